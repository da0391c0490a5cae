/** For an error without a frame of the program: the calls in its own files that can have started what failed. */
import { outermostCall, outermostPackage, startersOf } from '../../bundle/layout/operations.ts';
import type { ErrorFacts } from '../../model/account.ts';
import { isOfRuntime } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { findStartedCalls } from '../stacks/started-calls.ts';
import { findUnawaitedCalls } from '../stacks/unawaited-calls.ts';
import type { FrameReader } from './error-facts.ts';
import { soughtTexts } from './sought-scripts.ts';

/** With more, it can be none in particular. */
const mostCalls = 40;

export interface StartedCalls {
  /** The functions that are called, each once. */
  names: string[];
  frames: Frame[];
  /**
   * They are statements of their own, so that nothing awaits or catches a promise that they return: calls of the function in which the stack
   * begins, or else of what the package has made.
   */
  unawaited?: { packageName: string; byName: boolean };
}

/** Undefined if there are none or very many, or if a script could not be searched. */
export async function readStartedCalls(
  parts: BundleParts,
  error: ErrorFacts | undefined,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<StartedCalls | undefined> {
  const { error: part, trigger } = parts;
  // The modules with an await were sought instead.
  if (trigger?.kind === 'uncaught-exception' && trigger.origin === 'unhandledRejection') return undefined;
  if (!error) return undefined;
  if (!(error.frames ?? []).every(isOfRuntime))
    return trigger?.kind === 'unhandled-rejection' ? readUnawaited(parts, error, readPart, read) : undefined;
  if (part?.begun) return undefined;
  const { emitter } = part ?? {};
  // A terminal's streams have the same names, and no path.
  if (/^(?:Read|Write)Stream$/.test(emitter?.className ?? '') && emitter?.path === undefined)
    return undefined;
  const { syscall, path } = error.properties ?? {};
  const starters = startersOf({
    code: error.code,
    message: error.message,
    stack: error.stackText,
    emitter: emitter?.className,
    syscall: typeof syscall === 'string' ? syscall : undefined,
  });
  if (starters.length === 0) return undefined;
  const calls: { name: string; place: string }[] = [];
  for (const { url, text, kind } of soughtTexts(parts, readPart) ?? []) {
    const found = await findStartedCalls(text, kind, starters);
    if (!found) return undefined;
    for (const { name, literal, line, column } of found)
      if (!isOfOtherPath(name, literal, path)) calls.push({ name, place: `    at ${url}:${line}:${column}` });
  }
  if (calls.length > mostCalls) return undefined;
  const own: { name: string; frame: Frame }[] = [];
  for (const { name, place } of calls) {
    const [frame] = await read({ stackText: place, isOfDebugger: true });
    if (frame?.inApp) own.push({ name, frame });
  }
  const names = [...new Set(own.map(({ name }) => name))];
  return own.length ? { names, frames: own.map(({ frame }) => frame) } : undefined;
}

/** For a rejection of a package's promise. */
async function readUnawaited(
  parts: BundleParts,
  error: ErrorFacts,
  readPart: (name: string) => Uint8Array | undefined,
  read: FrameReader,
): Promise<StartedCalls | undefined> {
  const stack = error.stackText ?? '';
  const packageName = error.frames?.some(({ inApp }) => inApp) ? undefined : outermostPackage(stack);
  if (packageName === undefined) return undefined;
  const name = outermostCall(stack);
  const calls: { name: string; isOfPackage: boolean; place: string }[] = [];
  for (const { url, text, kind } of soughtTexts(parts, readPart) ?? []) {
    const found = await findUnawaitedCalls(text, kind, { name, packageName });
    if (!found) return undefined;
    for (const { line, column, ...call } of found)
      calls.push({ ...call, place: `    at ${url}:${line}:${column}` });
  }
  const named = calls.filter((call) => call.name === name);
  const meant = named.length ? named : calls;
  if (meant.length > mostCalls) return undefined;
  const own: { name: string; frame: Frame }[] = [];
  for (const call of meant) {
    const [frame] = await read({ stackText: call.place, isOfDebugger: true });
    if (frame?.inApp) own.push({ name: call.name, frame });
  }
  if (own.length === 0) return undefined;
  return {
    names: [...new Set(own.map((call) => call.name))],
    frames: own.map(({ frame }) => frame),
    unawaited: { packageName, byName: named.length > 0 },
  };
}

/** Some functions walk a folder, and their error names what they met there. */
const isOfOtherPath = (name: string, literal: string | undefined, path: unknown): boolean =>
  literal !== undefined &&
  typeof path === 'string' &&
  !/^(?:glob|cp|rm|readdir|opendir)$/.test(name) &&
  !path.startsWith(literal);
