/**
 * A port for a server that is told its port from outside. It lies below those that the kernel gives to whoever asks for
 * any: one of these may go to another test's connection before the server comes for it.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const fewest = 2000;

/** Of loopback; nobody listens there now. */
export async function findFreePort(): Promise<number> {
  const given = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const end = Math.max(Number.parseInt(given, 10), fewest);
  const begin = Math.max(1024, end - 20_000);
  for (;;) {
    const port = begin + Math.floor(Math.random() * (end - begin));
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
