/**
 * Uncaught exceptions, and rejections that Node turns into them (rows 1, 2, 14). uncaughtExceptionMonitor runs before
 * the default death and before the host's own handler, and changes neither.
 */
import { raisedRejections } from './raised-rejections.ts';
import type { Trigger } from './trigger.ts';

/** As it was before the program could replace it. */
const { hasUncaughtExceptionCaptureCallback } = process;

export const exceptionsTrigger: Trigger = ({ events, capture }) => {
  events.tap('uncaughtExceptionMonitor', {
    before: (value: unknown, origin: string) => {
      const handledByHost =
        events.listenersOfHost('uncaughtException').length > 0 || hasUncaughtExceptionCaptureCallback();
      capture({
        kind: kindOf(origin),
        handledByHost,
        thrown: { value },
        details: { origin },
      });
    },
  });
  return undefined;
};

/** A module that fails while it is evaluated is an uncaught exception to whoever wrote it, though Node reports a rejection. */
function kindOf(origin: string): 'unhandled-rejection' | 'uncaught-exception' {
  if (origin !== 'unhandledRejection') return 'uncaught-exception';
  return raisedRejections.isOfModule() ? 'uncaught-exception' : 'unhandled-rejection';
}
