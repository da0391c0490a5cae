/**
 * Rejections that the host handles (row 2): uncaughtExceptionMonitor is silent about them (nodejs/node#41222). Without a
 * listener of the host's Node dies of them, and the monitor sees that.
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
        thrown: { value },
        details: { origin: 'unhandledRejection' },
      });
    },
  });
  return undefined;
};
