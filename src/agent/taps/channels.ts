/**
 * Subscribes a tap to channels of `node:diagnostics_channel`. Subscribers are wrapped in `guarded`, because one that throws
 * would terminate the host's process.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { guarded } from './guard.ts';

export interface Tap {
  /** Receives a message that was published before the tap was installed. */
  hear(channel: string, message: unknown): void;
  undo(): void;
}

/** A tap for an absent target. */
export const silentTap: Tap = { hear() {}, undo() {} };

type Hear = (message: unknown) => void;

/** `listeners` by channel name, without the common `prefix`. */
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
