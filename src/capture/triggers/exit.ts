/**
 * The end by exit code (row 5): process.exit(≠0) with its caller's stack, an exit code set before a natural end or by a
 * listener of `exit`, where the program was at work that this ends; and 13, a top-level await that never settles, always.
 * In a worker the same is the worker's end.
 */

import { indexOf } from '../host/intrinsics.ts';
import { nearestFrames } from '../host/own-stack.ts';
import type { EventTap } from './event-tap.ts';
import type { Trigger } from './trigger.ts';

const unsettledTopLevelAwait = 13;

export const exitTrigger: Trigger = ({
  events,
  isMainThread,
  capture,
  hasJustCaptured,
  expectsExit,
  isEndOfWork,
  dieIfDue,
  ended,
}) => {
  let isOver = false;
  /** The code that was set as the loop ran empty, the last time it did. */
  let codeAtEmpty: unknown;
  let hasRunEmpty = false;
  const captureExit = (exitCode: number, isAfterListeners: boolean): void => {
    if (exitCode === 0 || hasJustCaptured() || expectsExit()) return;
    // The cheap answer first: a stack is made only of an exit that ends something, or may be a pending one.
    const isDeliberate = isEndOfWork(exitCode);
    if (!isDeliberate && exitCode !== unsettledTopLevelAwait) return;
    const stack = nearestFrames();
    const isCall = isExitCall(stack);
    const isPending =
      exitCode === unsettledTopLevelAwait &&
      !isCall &&
      !isAfterListeners &&
      hasRunEmpty &&
      Number(codeAtEmpty) !== unsettledTopLevelAwait;
    // Whoever listens to it may set the code too: then it is Node's most likely, not certainly.
    const isSetByNode = events.listenersOfHost('beforeExit').length === 0;
    if (!isPending && !isDeliberate) return;
    capture({
      kind: isPending ? 'pending-exit' : isMainThread ? 'exit' : 'worker-death',
      handledByHost: false,
      ...(isCall ? { stackText: stack } : {}),
      details: {
        exitCode,
        ...(isCall ? { exitStack: stack } : {}),
        ...(isPending
          ? { pending: process.getActiveResourcesInfo(), ...(isSetByNode && { setByNode: true as const }) }
          : {}),
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
      captureExit(exitCode, false);
      ended(exitCode);
      if (exitCode === 0) afterListeners((code) => captureExit(code, true));
    },
  });
  return undefined;
};

/**
 * Calls `look` with the exit code as the host's listeners of `exit` have left it. After a natural end Node runs the
 * microtasks once more (20 to 26); process.exit, also one called in a listener, goes through process.reallyExit, which
 * is a property that others replace too.
 */
function afterListeners(look: (exitCode: number) => void): void {
  void lookLater(look);
  const holder = process as unknown as Record<'reallyExit', (code?: number) => void>;
  const { reallyExit } = holder;
  holder.reallyExit = function (this: unknown, code = 0) {
    holder.reallyExit = reallyExit;
    look(Number(code) || 0);
    Reflect.apply(reallyExit, this, [code]);
  };
}

/** `await` goes through nothing that the program can replace, as Promise.prototype.then does. */
async function lookLater(look: (exitCode: number) => void): Promise<void> {
  await undefined;
  look(Number(process.exitCode) || 0);
}

/** By a line of V8's text of the stack. */
const isExitCall = (stack: string): boolean =>
  indexOf(stack, '    at process.exit ') >= 0 || indexOf(stack, '    at process.reallyExit ') >= 0;

/** Node sets it before it emits; a program that emits `exit` by hand does not end. */
function isExiting(): boolean {
  return (process as { _exiting?: boolean })._exiting === true;
}

/** Node 20 exits 13 by a listener of its own, which is there only while the top-level await has not settled. */
function findExitCode(events: EventTap): number {
  if (process.exitCode !== undefined && process.exitCode !== null) return Number(process.exitCode) || 0;
  const listeners = events.listenersOfHost('exit');
  for (let at = 0; at < listeners.length; at++)
    if (listeners[at]?.name === 'handleProcessExit') return unsettledTopLevelAwait;
  return 0;
}
