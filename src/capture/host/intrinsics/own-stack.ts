/**
 * Captures stacks without running code of the program: its formatter (source-map-support, an APM's) would receive an error
 * that is not the program's. V8 takes the limit from the realm's own Error; Node looks for a formatter on the current global
 * Error, then on the realm's own. No getter or setter of the program is called.
 */
import { descriptorOf, getBuiltinModule, indexOf, putBack, putProperty, sliceText } from './intrinsics.ts';

const maxFrames = 50;
/** V8's default. A limit that the program has frozen below it may hide who called. */
const usualLimit = 10;
const { Script, createContext } = getBuiltinModule('node:vm');
/** Of this realm, as it was when the preload was loaded. */
const OwnError = Error;
const ownGlobal = globalThis;

type Formatter = (error: Error, sites: NodeJS.CallSite[]) => unknown;

/**
 * The stack of this call, innermost frame first, as returned by `format`, or formatted by Node if that is undefined. If Error
 * was frozen before, it is the result of the program's formatter instead.
 */
export function makeStack(limit: number, format: Formatter | undefined): unknown {
  const limitBefore = descriptorOf(OwnError, 'stackTraceLimit');
  if (isFrozenLow(limitBefore)) return makeStackElsewhere(limit, format);
  const formatBefore = descriptorOf(OwnError, 'prepareStackTrace');
  const standIn = findStandIn();
  const standInsBefore = standIn && descriptorOf(standIn, 'prepareStackTrace');
  try {
    putProperty(OwnError, 'stackTraceLimit', limit);
    putProperty(OwnError, 'prepareStackTrace', format);
    if (standInsBefore) putProperty(standIn, 'prepareStackTrace', format);
    return new OwnError('stack').stack;
  } finally {
    putBack(OwnError, 'stackTraceLimit', limitBefore);
    putBack(OwnError, 'prepareStackTrace', formatBefore);
    if (standInsBefore) putBack(standIn, 'prepareStackTrace', standInsBefore);
  }
}

function isFrozenLow(limit: PropertyDescriptor | undefined): boolean {
  if (!limit || limit.configurable || limit.writable) return false;
  return typeof limit.value !== 'number' || limit.value < usualLimit;
}

type MakeStack = (limit: number, format: Formatter | undefined) => unknown;
let elsewhere: MakeStack | undefined;

/** In a realm whose Error the program does not have. Its own frame is left out of the call sites; in a text it is one of ours. */
function makeStackElsewhere(limit: number, format: Formatter | undefined): unknown {
  elsewhere ??= new Script(
    `(limit, format) => {
      Error.stackTraceLimit = limit + 1;
      Error.prepareStackTrace = format && ((error, sites) => format(error, sites.slice(1)));
      return new Error('stack').stack;
    }`,
    { filename: __filename },
  ).runInContext(createContext()) as MakeStack;
  return elsewhere(limit, format);
}

/** Node's own, or none: no code of the program has run yet. */
const nodesFormatter: unknown = descriptorOf(OwnError, 'prepareStackTrace')?.value;

/** Whether a formatter of the program is called when the stack of an error is first read. */
export function hasFormatter(): boolean {
  const standIn = findStandIn();
  const found =
    (standIn && descriptorOf(standIn, 'prepareStackTrace')) ?? descriptorOf(OwnError, 'prepareStackTrace');
  return found !== undefined && (found.get !== undefined || found.value !== nodesFormatter);
}

/** The program's replacement for the global Error. */
function findStandIn(): object | undefined {
  const now: unknown = descriptorOf(ownGlobal, 'Error')?.value;
  return typeof now === 'function' && now !== OwnError ? now : undefined;
}

/**
 * Text of the frames that led here, in V8's format, from the first one that is not ours. `ownFile` is the preload's, which
 * only its hot half knows by itself.
 */
export function nearestFrames(ownFile?: string): string {
  try {
    const stack = makeStack(maxFrames, undefined);
    if (typeof stack !== 'string') return '';
    const own = ownFile ?? __filename;
    return linesOf(stack, (line) => indexOf(line, '    at ') === 0 && indexOf(line, own) < 0);
  } catch {
    return '';
  }
}

function linesOf(text: string, isWanted: (line: string) => boolean): string {
  let wanted = '';
  for (let from = 0; from <= text.length; ) {
    const end = indexOf(text, '\n', from);
    const line = sliceText(text, from, end < 0 ? text.length : end);
    if (isWanted(line)) wanted += wanted === '' ? line : `\n${line}`;
    from = end < 0 ? text.length + 1 : end + 1;
  }
  return wanted;
}
