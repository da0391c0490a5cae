/** What the program's async functions waited for, and of an exit with code 13 which top-level await it was. */
import type { SuspendedStack } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findTopLevelAwaits, isAt } from '../stacks/top-level-awaits.ts';
import type { FrameReader } from './error-facts.ts';

/** `isSeen`: V8 says of each that it waits; else one of them does. */
export interface TopLevelAwaits {
  frames: Frame[];
  isSeen: boolean;
}

export interface SuspendedFacts {
  suspended?: SuspendedStack[];
  awaits?: TopLevelAwaits;
  /** The stack of the one that had not, the innermost wait first. */
  unsettled?: Frame[];
}

export async function readSuspended(
  parts: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<SuspendedFacts> {
  const texts = parts.suspended ?? [];
  const stacks: Frame[][] = [];
  for (const stackText of texts) stacks.push(await read({ stackText, isOfDebugger: true }));
  const suspended = texts.length > 0 && { suspended: stacks.map((frames) => ({ frames })) };
  const candidates = await findCandidates(parts, readPart);
  if (!candidates) return { ...suspended };
  // V8 lists no wait for what nobody can reach: where it lists none of them, each may be it.
  const seen = stacks.filter((_, at) => candidates.some((one) => isEndOf(texts[at] ?? '', one)));
  if (seen.length > 0)
    return {
      ...suspended,
      awaits: { frames: distinctPlaces(seen.flatMap((frames) => frames.slice(-1))), isSeen: true },
      ...(seen.length === 1 && { unsettled: seen[0] as Frame[] }),
    };
  const stackText = candidates.map(({ url, line, column }) => `    at ${url}:${line}:${column}`).join('\n');
  const frames = await read({ stackText, isOfDebugger: true });
  const unsettled = frames.length === 1 && { unsettled: frames };
  return { ...suspended, awaits: { frames, isSeen: false }, ...unsettled };
}

type Candidate = { url: string; line: number; column: number; end: { line: number; column: number } };

/** Where the modules that were kept may have waited. Undefined where one can't be looked through. */
async function findCandidates(
  { trigger, scripts }: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
): Promise<Candidate[] | undefined> {
  if (trigger?.kind !== 'pending-exit') return undefined;
  const found: Candidate[] = [];
  for (const { url, isModule, isExcerpt, sourcePart } of scripts) {
    if (!isModule || sourcePart === undefined) continue;
    const text = isExcerpt ? undefined : readPart(sourcePart);
    const places = text && (await findTopLevelAwaits(Buffer.from(text).toString('utf8')));
    if (!places) return undefined;
    for (const place of places) found.push({ url, ...place });
  }
  return found.length > 0 ? found : undefined;
}

/** Whether the outermost wait of a stack is this one: a module has no function's name. */
function isEndOf(stackText: string, candidate: Candidate): boolean {
  const last = stackText.slice(stackText.lastIndexOf('\n') + 1);
  const [, url, line, column] = /^\s*at async (\S+):(\d+):(\d+)$/.exec(last) ?? [];
  return url === candidate.url && isAt(candidate, Number(line), Number(column));
}

function distinctPlaces(frames: readonly Frame[]): Frame[] {
  const byPlace = new Map(frames.map((frame) => [`${frame.file}:${frame.line}:${frame.column}`, frame]));
  return [...byPlace.values()];
}
