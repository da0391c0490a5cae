/** What the program's async functions waited for, and for an exit with code 13, which top-level await had not settled. */
import { outermostCall } from '../../bundle/layout/operations.ts';
import type { ErrorFacts, SuspendedStack } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import { isInstalled } from '../../platform/paths.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findInnerAwaits, type InnerAwait } from '../stacks/awaits/inner-awaits.ts';
import { type AwaitPlace, findTopLevelAwaits, isAt } from '../stacks/awaits/top-level-awaits.ts';
import type { FrameReader } from './error-facts.ts';

/** `isSeen`: V8 lists all of them as waiting; otherwise one of them is. */
export interface TopLevelAwaits {
  frames: Frame[];
  isSeen: boolean;
  /** If it waits for an imported module: the top-level awaits of the other modules, one of which has not settled. */
  imported?: Frame[];
}

export interface SuspendedFacts {
  suspended?: SuspendedStack[];
  awaits?: TopLevelAwaits;
  /** The stack of the unsettled await, innermost wait first, as far as all that it waits for share it; only if it is unambiguous. */
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
  const candidates =
    parts.trigger?.kind === 'pending-exit' && !parts.trigger.duringTest
      ? await findCandidates(parts, readPart)
      : undefined;
  if (!candidates) return { ...suspended };
  // V8 doesn't list waits that are unreachable: if it lists none of the candidates, any of them may be the one.
  const seen = stacks.filter((_, at) => candidates.some((one) => isEndOf(texts[at] ?? '', one)));
  if (seen.length > 0) {
    const imported = await read({
      stackText: placesIn(importedBy(texts, candidates)),
      isOfDebugger: true,
    });
    const ends = distinctPlaces(seen.flatMap((frames) => frames.slice(-1)));
    const inner = imported.length === 1 ? imported : [];
    return {
      ...suspended,
      awaits: {
        frames: ends,
        isSeen: true,
        ...(imported.length > 0 && { imported }),
      },
      ...(ends.length === 1 && { unsettled: [...inner, ...commonEnd(seen)] }),
    };
  }
  const frames = await read({ stackText: placesIn(candidates), isOfDebugger: true });
  const unsettled = frames.length === 1 && { unsettled: frames };
  return { ...suspended, awaits: { frames, isSeen: false }, ...unsettled };
}

/**
 * For an error that ended the evaluation of a module, and whose stack has no frame of the program: the top-level awaits, one of which
 * passed it on. Empty if some modules can't be searched. `passedThrough`: below the only one, the awaits of functions that have no other, from
 * the outside in.
 */
export async function readPassedAwaits(
  parts: BundleParts,
  error: ErrorFacts | undefined,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<{ passedAt: Frame[]; passedThrough: Frame[]; passedBy?: PassedBy }> {
  const none = { passedAt: [], passedThrough: [] };
  const { kind, origin } = parts.trigger ?? {};
  const isOfModule = kind === 'uncaught-exception' && origin === 'unhandledRejection';
  const { isError, code } = parts.error?.error ?? {};
  // Errors of Node's asynchronous functions may have a stack without frames.
  const isOfNode = error?.frames?.length || (isError && code !== undefined);
  if (!isOfModule || !isOfNode || error?.frames?.some(({ inApp }) => inApp)) return none;
  const all = (await findCandidates(parts, readPart)) ?? [];
  const ways: { await: Candidate; inner: InnerAwait[] }[] = [];
  for (const one of all.slice(0, mostSearched))
    ways.push({
      await: one,
      inner: await findInnerAwaits(one, (url) => moduleText(url, parts, readPart)),
    });
  const name = all.length > 1 ? outermostCall(error?.stackText ?? '') : undefined;
  const calling =
    name === undefined || all.length > mostSearched ? [] : ways.filter((way) => doesCall(way, name));
  const isByCall = name !== undefined && calling.length === 1;
  const candidates = isByCall ? calling.map((way) => way.await) : all;
  const [only, other] = candidates;
  if (!only) return none;
  const passedAt = await read({ stackText: placesIn(candidates), isOfDebugger: true });
  const inner = other ? [] : (ways.find((way) => way.await === only)?.inner ?? []);
  const stackText = inner.map(({ name, url, line, column }) => `    at ${name} (${url}:${line}:${column})`);
  const passedThrough = inner.length
    ? await read({ stackText: stackText.join('\n'), isOfDebugger: true })
    : [];
  return { passedAt, passedThrough, ...(isByCall && { passedBy: { name, of: all.length } }) };
}

/** Of several awaits it is the only one that calls the outermost function on the stack. */
export interface PassedBy {
  name: string;
  /** How many there are. */
  of: number;
}

const mostSearched = 40;

const doesCall = (way: { await: Candidate; inner: InnerAwait[] }, name: string): boolean =>
  [way.await, ...way.inner].some(({ calls }) => calls.includes(name));

function moduleText(
  url: string,
  { scripts }: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
): string | undefined {
  const { isModule, isExcerpt, sourcePart } = scripts.find((script) => script.url === url) ?? {};
  const bytes = isModule && !isExcerpt && sourcePart !== undefined ? readPart(sourcePart) : undefined;
  return bytes && Buffer.from(bytes).toString('utf8');
}

const placesIn = (candidates: readonly Candidate[]): string =>
  candidates.map(({ url, line, column }) => `    at ${url}:${line}:${column}`).join('\n');

/** The evaluation of a module that `import()` waits for. */
const evaluation = /^\s*at async ModuleJob\.run \(node:internal\/modules\/esm\/module_job:/;

/** If all of the waits are for imported modules: the awaits of the modules that wait for none themselves. */
function importedBy(texts: readonly string[], candidates: readonly Candidate[]): Candidate[] {
  const ends = texts.filter((text) => candidates.some((one) => isEndOf(text, one)));
  if (!ends.length || !ends.every((text) => evaluation.test(text))) return [];
  const outer = new Set(
    candidates.filter((one) => ends.some((text) => isEndOf(text, one))).map(({ url }) => url),
  );
  return candidates.filter(({ url }) => !outer.has(url));
}

type Candidate = AwaitPlace & { url: string };

/** All top-level awaits of the recorded modules. Undefined if one of the modules can't be searched. */
async function findCandidates(
  { scripts }: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
): Promise<Candidate[] | undefined> {
  const found: Candidate[] = [];
  const wereSought = scripts.some(({ isSought }) => isSought);
  for (const { url, isModule, isExcerpt, isSought, sourcePart } of scripts) {
    if (!isModule || sourcePart === undefined) continue;
    // Of a package on the stack, whose whole text has no such await.
    if (isExcerpt && !isSought && wereSought && isInstalled(url)) continue;
    const text = isExcerpt ? undefined : readPart(sourcePart);
    const places = text && (await findTopLevelAwaits(Buffer.from(text).toString('utf8')));
    if (!places) return undefined;
    for (const place of places) found.push({ url, ...place });
  }
  return found.length > 0 ? found : undefined;
}

/** Whether the outermost frame of a stack is this await: a module frame has no function name. */
function isEndOf(stackText: string, candidate: Candidate): boolean {
  const last = stackText.slice(stackText.lastIndexOf('\n') + 1);
  const [, url, line, column] = /^\s*at async (\S+):(\d+):(\d+)$/.exec(last) ?? [];
  return url === candidate.url && isAt(candidate, Number(line), Number(column));
}

/** The outermost frames in which all of the stacks agree. */
function commonEnd([first = [], ...others]: readonly Frame[][]): Frame[] {
  const keyOf = ({ function: name, file, line, column }: Frame) => `${name} ${file}:${line}:${column}`;
  const differs = (frame: Frame, fromEnd: number) =>
    others.some((frames) => {
      const other = frames.at(-1 - fromEnd);
      return !other || keyOf(other) !== keyOf(frame);
    });
  const outermost = first.toReversed();
  const end = outermost.findIndex(differs);
  return outermost.slice(0, end < 0 ? undefined : end).reverse();
}

function distinctPlaces(frames: readonly Frame[]): Frame[] {
  const byPlace = new Map(frames.map((frame) => [`${frame.file}:${frame.line}:${frame.column}`, frame]));
  return [...byPlace.values()];
}
