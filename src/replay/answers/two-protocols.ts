/**
 * A server that detects HTTP/1.1 or HTTP/2 from the first bytes of a connection. The replayer's sockets only pretend to use
 * TLS, so no protocol was negotiated. HTTP/2 is used through its compatibility API, so one listener serves both. The preface
 * is that of RFC 9113, 3.4.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createFront, type Socket } from 'node:net';

/** No method in use begins with these bytes of the preface. */
const prefaceBegin = Buffer.from('PRI');

/** Listens on the Unix socket `path`. `close` destroys open connections. */
export async function serveBothProtocols(
  path: string,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ close(): void }> {
  const http1 = createServer(listener);
  const http2 = createHttp2Server(listener as never);
  // Expected in a replay: the client dies in the middle of its session.
  http2.on('sessionError', () => {});
  const open = new Set<Socket>();
  const front = createFront((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const broken = () => socket.destroy();
    socket.once('error', broken);
    socket.once('data', (first: Buffer) => {
      socket.off('error', broken);
      socket.pause();
      socket.unshift(first);
      const isHttp2 = first.subarray(0, prefaceBegin.length).equals(prefaceBegin);
      (isHttp2 ? http2 : http1).emit('connection', socket);
      if (!isHttp2) socket.resume();
    });
  });
  front.listen(path);
  await once(front, 'listening');
  return {
    close() {
      front.close();
      for (const socket of open) socket.destroy();
    },
  };
}
