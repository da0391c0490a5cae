/**
 * Connections that leave HTTP (WebSocket), for which there is no channel. Servers that listen for `upgrade` are watched from
 * their first connection on. On an upgraded socket, each time that `emit` looks up the listeners of `data` begins a message.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { guarded } from '../../agent/taps/guard.ts';
import { ours } from '../../agent/taps/own-work.ts';
import { tapPresentEvents } from '../triggers/event-tap.ts';

export interface UpgradeReaction {
  begin(socket: Socket, request: IncomingMessage): void;
  /** It has received bytes. */
  next(socket: Socket): void;
  end(socket: Socket): void;
}

interface Connected {
  socket?: Socket & { server?: Server };
}

/** Returns a function that stops watching new connections. */
export function watchUpgrades(reaction: UpgradeReaction): () => void {
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

function watchServer(server: Server, reaction: UpgradeReaction): void {
  tapPresentEvents(server, 'upgrade', {
    before: (request: IncomingMessage, socket: Socket) => {
      watchData(socket, reaction);
      reaction.begin(socket, request);
    },
    joins: (_call, hasHost) => hasHost,
  });
}

/** Capturing a stack for each message would cost too much, so every look-up of these listeners is assumed to be by `emit`. */
function watchData(socket: Socket, { next, end }: UpgradeReaction): void {
  const holder = socket as unknown as { _events?: Record<string | symbol, unknown> };
  if (typeof holder._events !== 'object' || holder._events === null) return;
  holder._events = new Proxy(holder._events, {
    get(events, name) {
      if (name === 'data') ours(() => next(socket));
      else if (name === 'close' && socket.destroyed) ours(() => end(socket));
      return events[name];
    },
  });
}
