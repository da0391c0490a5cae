/** For an error without a frame of the program: the calls in its own files that can have started what failed. */
import { startersOf } from '../../bundle/layout/operations.ts';
import type { ErrorFacts } from '../../model/account.ts';
import { isOfNode } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findStartedCalls } from '../stacks/started-calls.ts';
import type { FrameReader } from './error-facts.ts';

const mostPlaces = 20;

export interface StartedCalls {
  /** The functions that are called, each once. */
  names: string[];
  frames: Frame[];
}

/** Undefined if there are none, or if a script could not be searched. */
export async function readStartedCalls(
  { scripts, error: part }: BundleParts,
  error: ErrorFacts | undefined,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<StartedCalls | undefined> {
  if (!error || part?.begun || !(error.frames ?? []).every(isOfNode)) return undefined;
  const { syscall, path } = error.properties ?? {};
  const starters = startersOf({
    code: error.code,
    stack: error.stackText,
    emitter: part?.emitter?.className,
    syscall: typeof syscall === 'string' ? syscall : undefined,
  });
  if (starters.length === 0) return undefined;
  const names = new Set<string>();
  const places: string[] = [];
  for (const { url, isModule, isExcerpt, sourcePart } of scripts.filter(({ isSought }) => isSought)) {
    const bytes = sourcePart === undefined || isExcerpt ? undefined : readPart(sourcePart);
    const source = bytes && Buffer.from(bytes).toString('utf8');
    const found =
      source === undefined
        ? undefined
        : await findStartedCalls(source, isModule ? 'module' : 'commonjs', starters);
    if (!found) return undefined;
    for (const { name, literal, line, column } of found) {
      if (literal !== undefined && typeof path === 'string' && literal !== path) continue;
      names.add(name);
      places.push(`    at ${url}:${line}:${column}`);
    }
  }
  if (places.length === 0) return undefined;
  const all = await read({ stackText: places.slice(0, mostPlaces).join('\n'), isOfDebugger: true });
  const frames = all.filter(({ inApp }) => inApp);
  return frames.length ? { names: [...names], frames } : undefined;
}
