/**
 * Finds a port for a server whose port must be given. It is below the kernel's ephemeral range, because a port within it may
 * be assigned to another test's connection before the server listens on it.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const fewest = 2000;

/** A port of 127.0.0.1 on which nothing was listening a moment ago. */
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
