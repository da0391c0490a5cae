/**
 * Requests for which there is no channel: connections that leave HTTP (WebSocket), and on Node 20 the streams of an HTTP/2 server. Servers
 * are watched from their first connection on. On an upgraded socket, each time that `emit` looks up the listeners of `data` begins a message.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { guarded } from '../../agent/taps/guard.ts';
import { ours } from '../../agent/taps/own-work.ts';
import { tapPresentEvents } from '../triggers/event-tap.ts';

export interface UpgradeReaction<Begun> {
  begin(socket: Socket, request: IncomingMessage): Begun;
  /** Its socket has received bytes. */
  next(begun: Begun): void;
  end(begun: Begun): void;
  /** A stream of an HTTP/2 server has begun. */
  beginStream(stream: ServerHttp2Stream, headers: Record<string, unknown>): void;
  endStream(stream: ServerHttp2Stream): void;
}

/** Node 20 has no channel for the streams of servers. */
const lacksStreams = Number.parseInt(process.versions.node, 10) < 22;

interface Connected {
  socket?: Socket & { server?: Server };
}

/** Returns a function that stops watching new connections. */
export function watchUpgrades<Begun>(reaction: UpgradeReaction<Begun>): () => void {
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const seen = new WeakSet<object>();
  const taps: [name: string, before: (...args: never[]) => void][] = [
    [
      'upgrade',
      (request: IncomingMessage, socket: Socket) =>
        watchData(socket, reaction.begin(socket, request), reaction),
    ],
  ];
  if (lacksStreams)
    taps[1] = [
      'stream',
      (stream: ServerHttp2Stream, headers: Record<string, unknown>) => {
        reaction.beginStream(stream, headers);
        tapPresentEvents(stream, 'close', { before: () => reaction.endStream(stream), joins: () => true });
      },
    ];
  const onConnection = guarded((message: unknown): void => {
    const server = (message as Connected).socket?.server;
    if (!server || seen.has(server)) return;
    for (const [name, before] of taps)
      if (server.listenerCount(name) > 0) {
        seen.add(server);
        tapPresentEvents(server, name, { before, joins: (_call, hasHost) => hasHost });
      }
  });
  subscribe('net.server.socket', onConnection);
  return () => unsubscribe('net.server.socket', onConnection);
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
