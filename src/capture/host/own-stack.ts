/**
 * Stacks that are made here, for which nothing of the program's runs: a formatter of its own (source-map-support, an APM's)
 * would hear of an error that is none of its. V8 takes the limit from the realm's own Error; Node asks for a formatter what is
 * called Error now, then the realm's own. Neither a getter nor a setter of the program's is called for them.
 */
import { descriptorOf, indexOf, putBack, putProperty, sliceText } from './intrinsics.ts';

const maxFrames = 50;
/** Of this realm, as it was when the preload was loaded. */
const OwnError = Error;
const ownGlobal = globalThis;

type Formatter = (error: Error, sites: NodeJS.CallSite[]) => unknown;

/**
 * The stack that leads here, innermost frame first, as `format` makes it; undefined: as Node does. It is what the program has
 * there instead where Error was frozen before.
 */
export function makeStack(limit: number, format: Formatter | undefined): unknown {
  const limitBefore = descriptorOf(OwnError, 'stackTraceLimit');
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

/** Node's own, or none: of the program nothing has run yet. */
const nodesFormatter: unknown = descriptorOf(OwnError, 'prepareStackTrace')?.value;

/** Whether a formatter of the program's is called when the stack of an error is read for the first time. */
export function hasFormatter(): boolean {
  const standIn = findStandIn();
  const found =
    (standIn && descriptorOf(standIn, 'prepareStackTrace')) ?? descriptorOf(OwnError, 'prepareStackTrace');
  return found !== undefined && (found.get !== undefined || found.value !== nodesFormatter);
}

/** What the program has put in the place of Error. */
function findStandIn(): object | undefined {
  const now: unknown = descriptorOf(ownGlobal, 'Error')?.value;
  return typeof now === 'function' && now !== OwnError ? now : undefined;
}

/**
 * Text of the frames that led here, in V8's form, beginning with the first that is not ours. `ownFile` is the preload's,
 * which only its hot half knows by itself.
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
