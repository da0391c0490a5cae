/**
 * Connections that leave HTTP (WebSocket), for which there is no channel. Servers that listen for `upgrade` are watched from
 * their first connection on. On an upgraded socket, each time that `emit` looks up the listeners of `data` begins a message.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { guarded } from '../../agent/taps/guard.ts';
import { ours } from '../../agent/taps/own-work.ts';
import { tapPresentEvents } from '../triggers/event-tap.ts';

export interface UpgradeReaction<Begun> {
  begin(socket: Socket, request: IncomingMessage): Begun;
  /** Its socket has received bytes. */
  next(begun: Begun): void;
  end(begun: Begun): void;
}

interface Connected {
  socket?: Socket & { server?: Server };
}

/** Returns a function that stops watching new connections. */
export function watchUpgrades<Begun>(reaction: UpgradeReaction<Begun>): () => void {
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const seen = new WeakSet<object>();
  const onConnection = guarded((message: unknown): void => {
    const server = (message as Connected).socket?.server;
    if (!server || seen.has(server) || server.listenerCount('upgrade') === 0) return;
    seen.add(server);
    watchServer(server, reaction);
  });
  subscribe('net.server.socket', onConnection);
  return () => unsubscribe('net.server.socket', onConnection);
}

function watchServer<Begun>(server: Server, reaction: UpgradeReaction<Begun>): void {
  tapPresentEvents(server, 'upgrade', {
    before: (request: IncomingMessage, socket: Socket) => {
      watchData(socket, reaction.begin(socket, request), reaction);
    },
    joins: (_call, hasHost) => hasHost,
  });
}

/** Capturing a stack for each message would cost too much, so every look-up of these listeners is assumed to be by `emit`. */
function watchData<Begun>(socket: Socket, begun: Begun, { next, end }: UpgradeReaction<Begun>): void {
  const holder = socket as unknown as { _events?: Record<string | symbol, unknown> };
  if (typeof holder._events !== 'object' || holder._events === null) return;
  holder._events = new Proxy(holder._events, {
    get(events, name) {
      if (name === 'data') ours(() => next(begun));
      else if (name === 'close' && socket.destroyed) ours(() => end(begun));
      return events[name];
    },
  });
}
