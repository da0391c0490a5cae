/** How the call of `abort()` is told. Pure. */
import type { AgentAbort } from './agent-state.ts';
import { culpritFrame, frameText, isOfNode, placeOf } from './frame-text.ts';
import type { Frame } from './thread.ts';

export interface AbortCaller {
  /** `stopIt (src/agent.mjs:10:5)`; of a call that no JavaScript of the program made, `a timer`. */
  who: string;
  /** `src/agent.mjs:10:5` */
  place?: string;
  sentence: string;
}

/** Undefined where no frame says anything. */
export function abortCaller({ frames }: AgentAbort, cwd: string | undefined): AbortCaller | undefined {
  const culprit = culpritFrame(frames);
  const isByTimer = frames?.some(isTimer) === true;
  if (!culprit || isOfNode(culprit))
    return isByTimer ? { who: 'a timer', sentence: 'abort() was called by a timer.' } : undefined;
  const who = frameText(culprit, cwd);
  const place = placeOf(culprit, cwd);
  return {
    who,
    ...(place !== undefined && { place }),
    sentence: `abort() was called in ${who}${isByTimer ? ', which a timer started' : ''}.`,
  };
}

const isTimer = ({ file }: Frame): boolean => file === 'node:internal/timers';
