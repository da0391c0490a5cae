/** For a TimeoutError: the calls of AbortSignal.timeout in the program's scripts on the stack. */
import type { ErrorFacts } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findTimeLimits } from '../stacks/time-limits.ts';
import type { FrameReader } from './error-facts.ts';

const mostPlaces = 20;

/** Empty if there are none, or none are known. */
export async function readTimeLimits(
  error: ErrorFacts | undefined,
  { scripts }: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<Frame[]> {
  if (!hasTimedOut(error)) return [];
  const places: string[] = [];
  for (const { url, isModule, sourcePart } of scripts) {
    const text = sourcePart === undefined ? undefined : readPart(sourcePart);
    if (!text || url.includes('/node_modules/')) continue;
    const source = Buffer.from(text).toString('utf8');
    const found = (await findTimeLimits(source, isModule ? 'module' : 'commonjs')) ?? [];
    for (const { line, column } of found) places.push(`    at ${url}:${line}:${column}`);
  }
  if (places.length === 0) return [];
  return read({ stackText: places.slice(0, mostPlaces).join('\n'), isOfDebugger: true });
}

/** True for the error itself or any of its causes. */
function hasTimedOut(error: ErrorFacts | undefined): boolean {
  for (let one = error; one; one = one.cause) if (one.name === 'TimeoutError') return true;
  return false;
}
