/**
 * The HTTP requests that tests send to servers of their own process. A server's request has the context in which the server was
 * started, which is often a hook's or an earlier test's; whoever sent it is only known at the client's end. Both ends of a
 * connection within one process have the same two ports, by which a request that arrives is matched to the one that was sent.
 */
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Origin } from '../agent/record/causal-context.ts';
import { guarded } from '../agent/taps/guard.ts';

/** Requests that never get a connection are forgotten, oldest first. */
const mostOpen = 500;

export interface SentRequests {
  /** Of the request that arrives at this end of a connection. */
  senderOf(arrived: Socket): Origin | undefined;
  /** Of the request that this connection, which a client opened, carries now. */
  senderOn(connection: object): Origin | undefined;
}

/** `current` is called when a request is made. */
export function watchSentRequests(current: () => Origin | undefined): SentRequests {
  const { subscribe } = process.getBuiltinModule('node:diagnostics_channel');
  const requests = new Map<ClientRequest, Origin>();
  const queued = new WeakMap<object, Origin>();
  const sockets = new Map<Socket, Origin>();
  const made = ({ request }: { request: ClientRequest }): void => {
    const origin = requests.has(request) ? undefined : current();
    if (!origin) return;
    // A request holds its response's body.
    for (const one of requests.keys()) if (isOver(one)) requests.delete(one);
    requests.set(request, origin);
    if (requests.size > mostOpen) for (const oldest of requests.keys()) return void requests.delete(oldest);
  };
  const listeners: Record<string, (message: never) => void> = {
    'http.client.request.created': made,
    // Before Node 22.12 there is only this channel, when the last byte is handed to the socket.
    'http.client.request.start': made,
    'undici:request:create': ({ request }: { request: object }) => {
      const origin = current();
      if (origin) queued.set(request, origin);
    },
    // Not always in the context of who made the request. An undici socket carries one at a time, unless told otherwise.
    'undici:client:sendHeaders': ({ request, socket }: { request: object; socket: Socket }) => {
      for (const one of sockets.keys()) if (one.destroyed) sockets.delete(one);
      const origin = queued.get(request);
      if (origin) sockets.set(socket, origin);
      else sockets.delete(socket);
    },
  };
  for (const [name, listener] of Object.entries(listeners))
    subscribe(name, guarded(listener) as (message: unknown) => void);
  const find = (isIt: (socket: Socket) => boolean): Origin | undefined => {
    for (const [request, origin] of requests) {
      if (isOver(request)) requests.delete(request);
      else if (request.socket && isIt(request.socket)) return origin;
    }
    for (const [socket, origin] of sockets) {
      if (socket.destroyed) sockets.delete(socket);
      else if (isIt(socket)) return origin;
    }
    return undefined;
  };
  return {
    senderOf: (arrived) => find((socket) => areEnds(socket, arrived)),
    senderOn: (connection) => find((socket) => socket === connection),
  };
}

/** At the end of a response Node closes its socket, or takes the request off it. */
function isOver(request: ClientRequest): boolean {
  const socket = request.socket as (Socket & { _httpMessage?: unknown }) | null | undefined;
  return request.destroyed || (socket ? socket.destroyed || socket._httpMessage !== request : false);
}

function areEnds(one: Socket, other: Socket): boolean {
  return (
    one.localPort !== undefined && one.localPort === other.remotePort && one.remotePort === other.localPort
  );
}
