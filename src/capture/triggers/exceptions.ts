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

/** For its author, a module that fails during evaluation is an uncaught exception, although Node reports a rejection. */
function kindOf(origin: string): 'unhandled-rejection' | 'uncaught-exception' {
  if (origin !== 'unhandledRejection') return 'uncaught-exception';
  return raisedRejections.isOfModule() ? 'uncaught-exception' : 'unhandled-rejection';
}
