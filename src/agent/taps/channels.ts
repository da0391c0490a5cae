/**
 * Subscribes a tap to the channels of `node:diagnostics_channel`. What is heard goes through `guarded`: a subscriber that
 * throws would end the host's process.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { guarded } from './guard.ts';

export interface Tap {
  /** Hears a message that was published before the tap was there. */
  hear(channel: string, message: unknown): void;
  undo(): void;
}

/** A tap on what is not there. */
export const silentTap: Tap = { hear() {}, undo() {} };

type Hear = (message: unknown) => void;

/** `listeners` by channel, without what `prefix` says of all of them. */
export function listenTo<Message>(
  prefix: string,
  listeners: Record<string, (message: Message) => void>,
): Tap {
  const safe = new Map<string, Hear>();
  for (const [name, listener] of Object.entries(listeners))
    safe.set(prefix + name, guarded(listener) as Hear);
  for (const [channel, hear] of safe) subscribe(channel, hear);
  return {
    hear: (channel, message) => safe.get(channel)?.(message),
    undo() {
      for (const [channel, hear] of safe) unsubscribe(channel, hear);
    },
  };
}
