/**
 * Redirects connections to recorded servers to the replayer's sockets. All clients meet at this level: fetch, the undici
 * package, node:http and everything built on them call `net.Socket.connect` or `tls.connect` (seen on Node 20, 22, 24, 26).
 * HTTP/2 is not offered, so clients that support HTTP/1.1 use that. Connections and datagrams to servers that are not in the
 * recording are made, or reported to the replayer, which ends the replay. Unix sockets and pipes are not affected.
 */
import net from 'node:net';
import tls from 'node:tls';
import { stopDatagrams } from './datagrams.ts';
import { OwnPorts } from './own-ports.ts';
import type { OtherConnections, ReplayPlan } from './plan.ts';

interface Destination {
  host?: string | undefined;
  hostname?: string | undefined;
  servername?: string | undefined;
  port?: number | string | undefined;
  path?: string | null | undefined;
  socket?: unknown;
}

type Listener = () => void;

export function redirectConnections({ hosts, sockets, others }: ReplayPlan): void {
  const wanted = new Set(hosts);
  const isUnknown = others ? lookForUnknown(others) : () => false;
  /** The Unix socket to which a connection is redirected; undefined if it is made normally. */
  const placeOf = (to: Destination, recorded: string): string | undefined => {
    if (to.path) return undefined;
    const name = nameOf(to);
    const { port } = to;
    if (wanted.has(`${name}:${port}`) || ((+port! === 80 || +port! === 443) && wanted.has(name)))
      return recorded;
    return isStopped(name, Number(port)) ? others?.unknown : undefined;
  };
  /** Whether the server is unknown. If so, it has been reported to the replayer. */
  const isStopped = (name: string, port: number): boolean => {
    if (!others || !isUnknown(name, port)) return false;
    connectSocket.call(new net.Socket(), { path: others.unknown }).end(`CONNECT ${name}:${port}\n`);
    return true;
  };
  if (others) stopDatagrams(isStopped);
  const connectSocket = net.Socket.prototype.connect as (this: net.Socket, ...args: unknown[]) => net.Socket;
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    const { to, listener } = readDestination(args);
    const path = placeOf(to, sockets.http);
    if (path === undefined) return connectSocket.apply(this, args);
    return connectSocket.call(this, { path }, listener);
  } as typeof net.Socket.prototype.connect;
  const connectTls = tls.connect as (...args: unknown[]) => tls.TLSSocket;
  tls.connect = ((...args: unknown[]) => {
    const { to, listener } = readDestination(args);
    const path = to.socket ? undefined : placeOf(to, sockets.https);
    if (path === undefined) return connectTls(...args);
    return pretendTls(net.connect({ path }), to.servername ?? to.host, listener);
  }) as typeof tls.connect;
}

const nameOf = ({ host, hostname }: Destination) => (host ?? hostname ?? 'localhost').toLowerCase();

/** Whether the server is unknown: neither in `live` nor one of the program's own. */
function lookForUnknown({ live, portsFile }: OtherConnections): (name: string, port: number) => boolean {
  const wished = new Set(live);
  const own = new OwnPorts(portsFile);
  return (name, port) => !wished.has(name) && !wished.has(`${name}:${port}`) && !own.has(name, port);
}

/** A plain socket that looks like a TLS socket to clients that check before they write. */
function pretendTls(
  socket: net.Socket,
  servername: string | undefined,
  listener: Listener | undefined,
): tls.TLSSocket {
  const pretended = Object.assign(socket, {
    encrypted: true,
    authorized: true,
    authorizationError: null,
    alpnProtocol: false,
    servername,
    getPeerCertificate: () => ({}),
    getCipher: () => ({ name: 'none', standardName: 'none', version: 'replay' }),
    getProtocol: () => 'TLSv1.3',
    getSession: () => undefined,
    isSessionReused: () => false,
    setServername: () => {},
    setSession: () => {},
  });
  if (listener) socket.once('secureConnect', listener);
  socket.once('connect', () => socket.emit('secureConnect'));
  return pretended as unknown as tls.TLSSocket;
}

/**
 * Accepts options, or port and host, or the argument list that net passes to itself, each with an optional listener at the
 * end.
 */
function readDestination(args: unknown[]): { to: Destination; listener: Listener | undefined } {
  const list = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const last = list.at(-1);
  const listener = typeof last === 'function' ? (last as Listener) : undefined;
  const [first, second, third] = list;
  if (typeof first === 'object' && first !== null) return { to: first as Destination, listener };
  if (typeof first === 'string' && Number.isNaN(Number(first))) return { to: { path: first }, listener };
  const more = typeof second === 'object' ? second : typeof third === 'object' ? third : {};
  const host = typeof second === 'string' ? second : undefined;
  return { to: { ...more, port: first as number, ...(host === undefined ? {} : { host }) }, listener };
}
