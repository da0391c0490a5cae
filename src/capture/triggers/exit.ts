/**
 * Ends by exit code (row 5): process.exit(≠0) with the stack of its caller, and an exit code that was set before a natural
 * end or by a listener of `exit`, if this ends a program at work; and always 13, a top-level await that never settles. In a
 * worker the same events are the worker's end. An exit in the middle of a test is told whatever its code: a runner takes 0 for
 * success.
 */

import { ours } from '../../agent/taps/own-work.ts';
import { shieldExit } from '../host/exit-shield.ts';
import { indexOf } from '../host/intrinsics/intrinsics.ts';
import { withOwnWorld } from '../host/intrinsics/own-realm.ts';
import { nearestFrames } from '../host/intrinsics/own-stack.ts';
import type { EventTap } from './event-tap.ts';
import type { Trigger } from './trigger.ts';

const unsettledTopLevelAwait = 13;

export const exitTrigger: Trigger = ({
  events,
  isMainThread,
  capture,
  hasJustCaptured,
  expectsExit,
  isInTest,
  isEndOfWork,
  dieIfDue,
  ended,
  exited,
}) => {
  let isOver = false;
  /** The exit code when the loop last ran empty. */
  let codeAtEmpty: unknown;
  let hasRunEmpty = false;
  const captureExit = (exitCode: number, isAfterListeners: boolean): void => {
    if (hasJustCaptured() || expectsExit()) return;
    const duringTest = isInTest();
    if (exitCode === 0 && !duringTest) return;
    // The cheap check first: a stack is captured only for an exit that ends something, or may be a pending one.
    const isDeliberate = exitCode !== 0 && isEndOfWork(exitCode);
    if (!isDeliberate && !duringTest && exitCode !== unsettledTopLevelAwait) return;
    const stack = nearestFrames();
    const isCall = isExitCall(stack);
    const hasSetPending = hasRunEmpty && Number(codeAtEmpty) === unsettledTopLevelAwait;
    const isUnsettled =
      exitCode === unsettledTopLevelAwait && !isCall && !isAfterListeners && hasRunEmpty && !hasSetPending;
    // Its runner may set a code afterwards.
    const isCutOff = duringTest && !isCall && !isUnsettled && hasRunEmpty;
    // A listener of it may set the code too: then the code is most likely Node's, but not certainly.
    const isSetByNode = isUnsettled && events.listenersOfHost('beforeExit').length === 0;
    const isPending = isUnsettled || isCutOff;
    if (!isPending && !isDeliberate && !(duringTest && isCall)) return;
    capture({
      kind: isPending ? 'pending-exit' : isMainThread ? 'exit' : 'worker-death',
      handledByHost: false,
      ...(isCall ? { stackText: stack } : {}),
      details: {
        ...(!isCutOff && { exitCode }),
        ...(isCall ? { exitStack: stack } : {}),
        ...(isPending && { pending: process.getActiveResourcesInfo() }),
        ...(isSetByNode && { setByNode: true as const }),
        ...(duringTest && !isUnsettled && { duringTest: true as const }),
      },
    });
  };
  events.tap('beforeExit', {
    atEmit: ({ isFromNode }) => {
      if (!isFromNode) return;
      hasRunEmpty = true;
      codeAtEmpty = process.exitCode;
    },
  });
  events.tap('exit', {
    atEmit: () => {
      if (isOver || !isExiting()) return;
      isOver = true;
      dieIfDue();
      const exitCode = findExitCode(events);
      shieldExit(() => {
        if (exitCode !== 0 || isInTest()) attempt(() => withOwnWorld(() => captureExit(exitCode, false)));
        ended(exitCode);
        if (exitCode !== 0) exited(exitCode);
      });
      // A runner of tests sets its code in a listener.
      if (exitCode === 0)
        afterListeners((code) =>
          shieldExit(() => {
            if (code !== 0) attempt(() => withOwnWorld(() => captureExit(code, true)));
            exited(code);
          }),
        );
    },
  });
  return undefined;
};

/**
 * Calls `look` with the exit code as it is after the host's listeners of `exit`. After a natural end Node runs the microtasks
 * once more (Node 20 to 26); process.exit, also from within a listener, calls process.reallyExit, a property that others
 * replace too.
 */
function afterListeners(look: (exitCode: number) => void): void {
  void lookLater(look);
  const holder = process as unknown as Record<'reallyExit', (code?: number) => void>;
  const { reallyExit } = holder;
  holder.reallyExit = function (this: unknown, code = 0) {
    holder.reallyExit = reallyExit;
    ours(() => look(Number(code) || 0));
    Reflect.apply(reallyExit, this, [code]);
  };
}

/** `await` uses nothing that the program can replace, unlike Promise.prototype.then. */
async function lookLater(look: (exitCode: number) => void): Promise<void> {
  await undefined;
  ours(() => look(Number(process.exitCode) || 0));
}

/** What follows must not depend on it: the program may have replaced what it calls. */
function attempt(run: () => void): void {
  try {
    run();
  } catch {
    // Then this exit has no bundle.
  }
}

/** Looks for a line of V8's stack text. */
const isExitCall = (stack: string): boolean =>
  indexOf(stack, '    at process.exit ') >= 0 || indexOf(stack, '    at process.reallyExit ') >= 0;

/** Node sets the flag before it emits; a program that emits `exit` itself does not end. */
function isExiting(): boolean {
  return (process as { _exiting?: boolean })._exiting === true;
}

/** Node 20 sets code 13 in a listener of its own, which exists only until the top-level await has settled. */
function findExitCode(events: EventTap): number {
  if (process.exitCode !== undefined && process.exitCode !== null) return Number(process.exitCode) || 0;
  const listeners = events.listenersOfHost('exit');
  for (let at = 0; at < listeners.length; at++)
    if (listeners[at]?.name === 'handleProcessExit') return unsettledTopLevelAwait;
  return 0;
}
