/**
 * Uncaught exceptions, and rejections that Node turns into them (rows 1, 2, 14). uncaughtExceptionMonitor runs before
 * the default death and before the host's own handler, and changes neither.
 */
import type { Trigger } from './trigger.ts';

export const exceptionsTrigger: Trigger = ({ events, capture }) => {
  events.tap('uncaughtExceptionMonitor', {
    before: (value: unknown, origin: string) => {
      const handledByHost =
        events.listenersOfHost('uncaughtException').length > 0 ||
        process.hasUncaughtExceptionCaptureCallback();
      capture({
        kind: origin === 'unhandledRejection' ? 'unhandled-rejection' : 'uncaught-exception',
        handledByHost,
        thrown: { value },
        details: { origin },
      });
    },
  });
  return undefined;
};
