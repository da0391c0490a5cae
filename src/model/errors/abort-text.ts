/** Describes the call of `abort()` in words. Pure. */
import type { AgentAbort } from '../agent-state.ts';
import { culpritFrame, frameText, isOfNode, placeOf } from '../frame-text.ts';
import type { Frame } from '../thread.ts';

export interface AbortCaller {
  /** `stopIt (src/agent.mjs:10:5)`, or `a timer` if the call was not made by JavaScript of the program. */
  who: string;
  /** `src/agent.mjs:10:5` */
  place?: string;
  sentence: string;
}

/** Undefined if no frame identifies the caller. */
export function abortCaller(abort: AgentAbort, cwd: string | undefined): AbortCaller | undefined {
  const { frames } = abort;
  if (isByTimeLimit(abort))
    return {
      who: 'a time limit of AbortSignal.timeout',
      sentence: 'A time limit of AbortSignal.timeout aborted it.',
    };
  const culprit = culpritFrame(frames);
  const isByTimer = frames?.some(isTimer) === true;
  if (!culprit || isOfNode(culprit))
    return isByTimer ? { who: 'a timer', sentence: 'abort() was called by a timer.' } : undefined;
  // A time limit of a library: the name of the library is more informative than that of the timer's callback.
  const library = isByTimer && !culprit.inApp ? libraryOf(culprit) : undefined;
  const who = library === undefined ? frameText(culprit, cwd) : `a timer of ${library}`;
  const place = placeOf(culprit, cwd);
  return {
    who,
    ...(place !== undefined && { place }),
    sentence: `abort() was called in ${who}${isByTimer ? ', which a timer started' : ''}.`,
  };
}

/** The recorder keeps only this frame of such an abort (agent/http/abort-stack.ts). */
export const isByTimeLimit = ({ frames }: Pick<AgentAbort, 'frames'>): boolean =>
  frames?.length === 1 && frames[0]?.file === 'node:internal/abort_controller';

/** The package below the innermost node_modules. */
const libraryOf = ({ file = '' }: Frame): string | undefined =>
  [...file.matchAll(/node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/g)].at(-1)?.[1];

const isTimer = ({ file }: Frame): boolean => file === 'node:internal/timers';

/** What AbortSignal.timeout gives as the reason: a DOMException. Packages call errors of their own TimeoutError too. */
export const isTimeoutOfSignal = ({ name, code }: { name?: string; code?: string }): boolean =>
  name === 'TimeoutError' && code === '23';
