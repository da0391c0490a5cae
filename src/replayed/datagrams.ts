/**
 * Stops datagrams to unknown servers: the first one is reported to the replayer and not sent. A socket that only answers, or
 * that sends to the program's own servers, is not affected. Datagrams of the name resolver can't be seen here.
 */
import dgram from 'node:dgram';

type Send = (this: dgram.Socket, ...args: unknown[]) => void;

/** `isStopped`: whether datagrams to this destination must not be sent. If so, it has reported the destination. */
export function stopDatagrams(isStopped: (host: string, port: number) => boolean): void {
  const { send, connect } = dgram.Socket.prototype as unknown as { send: Send; connect: Send };
  const prototype = dgram.Socket.prototype as unknown as { send: Send; connect: Send };
  prototype.send = function (...args) {
    // A connected socket was checked when it was connected.
    if (!isConnected(this) && isStopped(...destinationOf(this, args))) return;
    send.apply(this, args);
  };
  prototype.connect = function (...args) {
    const [port, host] = args;
    if (!isStopped(hostOr(this, host), Number(port))) connect.apply(this, args);
  };
}

/** `send(message, port, host)`, or with offset and length after the message. */
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
