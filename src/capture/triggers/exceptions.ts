/**
 * Uncaught exceptions, and rejections that Node turns into them (rows 1, 2, 14). uncaughtExceptionMonitor runs before
 * the default death and before the host's own handler, and changes neither.
 */
import { raisedRejections } from './raised-rejections.ts';
import type { Trigger } from './trigger.ts';
import { watchUnheardExceptions } from './unheard-exceptions.ts';

/** As it was before the program could replace it. */
const { hasUncaughtExceptionCaptureCallback } = process;

export const exceptionsTrigger: Trigger = ({ events, isMainThread, capture, hasJustCaptured, whenEnded }) => {
  events.tap('uncaughtExceptionMonitor', {
    before: (value: unknown, origin: string) => {
      const handledByHost =
        events.listenersOfHost('uncaughtException').length > 0 || hasUncaughtExceptionCaptureCallback();
      capture({
        kind: kindOf(origin),
        handledByHost,
        handlers: events.listenersOfHost('uncaughtException'),
        isHandledNext: handledByHost || events.listenersOfHost('uncaughtExceptionMonitor').length > 0,
        thrown: { value },
        details: { origin },
      });
    },
  });
  if (!isMainThread) return undefined;
  const hears = (name: string): boolean => events.listenersOfHost(name).length > 0;
  /** By code of the program that Node calls at an exception: it would find a function of ours among its callers. */
  const isSeen = (): boolean =>
    hears('uncaughtExceptionMonitor') ||
    hears('uncaughtException') ||
    hears('exit') ||
    hasUncaughtExceptionCaptureCallback();
  const unwatch = watchUnheardExceptions({
    mayBeUnheard: () => events.mayMiss() && !isSeen(),
    died(value, fromPromise) {
      if (hasJustCaptured()) return;
      const origin = fromPromise ? 'unhandledRejection' : 'uncaughtException';
      capture({ kind: kindOf(origin), handledByHost: false, thrown: { value }, details: { origin } });
    },
  });
  if (unwatch) whenEnded(unwatch);
  return unwatch;
};

/** For its author, a module that fails during evaluation is an uncaught exception, although Node reports a rejection. */
function kindOf(origin: string): 'unhandled-rejection' | 'uncaught-exception' {
  if (origin !== 'unhandledRejection') return 'uncaught-exception';
  return raisedRejections.isOfModule() ? 'uncaught-exception' : 'unhandled-rejection';
}
