/**
 * Rejections that the host handles (row 2): uncaughtExceptionMonitor is not emitted for them (nodejs/node#41222). Without a
 * listener of the host Node dies of them, and the monitor is called.
 */
import { raisedRejections } from './raised-rejections.ts';
import type { Trigger } from './trigger.ts';

export const rejectionsTrigger: Trigger = ({ events, capture }) => {
  events.tap('unhandledRejection', {
    joins: (_call, hasHost) => {
      raisedRejections.raised(hasHost);
      return hasHost;
    },
    before: (value: unknown) => {
      capture({
        kind: 'unhandled-rejection',
        handledByHost: true,
        handlers: events.listenersOfHost('unhandledRejection'),
        thrown: { value },
        details: { origin: 'unhandledRejection' },
      });
    },
  });
  return undefined;
};
