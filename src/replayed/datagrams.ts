/**
 * Datagrams to servers that nobody knows: the first one is told to the replayer and not sent. A socket that only
 * answers, or asks the program's own, works as ever. What the resolver of names sends is not ours to see.
 */
import dgram from 'node:dgram';

type Send = (this: dgram.Socket, ...args: unknown[]) => void;

/** `isStopped`: whether this destination is to be kept from the world; it has been told then. */
export function stopDatagrams(isStopped: (host: string, port: number) => boolean): void {
  const { send, connect } = dgram.Socket.prototype as unknown as { send: Send; connect: Send };
  const prototype = dgram.Socket.prototype as unknown as { send: Send; connect: Send };
  prototype.send = function (...args) {
    // A connected socket was looked at when it was connected.
    if (!isConnected(this) && isStopped(...destinationOf(this, args))) return;
    send.apply(this, args);
  };
  prototype.connect = function (...args) {
    const [port, host] = args;
    if (!isStopped(hostOr(this, host), Number(port))) connect.apply(this, args);
  };
}

/** `send(message, port, host)`, or with offset and length behind the message. */
function destinationOf(socket: dgram.Socket, [, second, third, fourth, fifth]: unknown[]): [string, number] {
  const [port, host] = typeof third === 'number' ? [fourth, fifth] : [second, third];
  return [hostOr(socket, host), Number(port)];
}

function hostOr({ type }: dgram.Socket & { type?: string }, host: unknown): string {
  if (typeof host === 'string' && host) return host.toLowerCase();
  return type === 'udp6' ? '::1' : '127.0.0.1';
}

function isConnected(socket: dgram.Socket): boolean {
  try {
    return Boolean(socket.remoteAddress());
  } catch {
    return false;
  }
}
