/**
 * A connection of PostgreSQL's client that breaks while nobody listens to it does not end the process. Uses a fake server of
 * a few bytes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { Pool } from 'pg';
import { PostgresStore } from '../../../src/durable/stores/postgres-store.ts';

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const authenticated = message('R', Buffer.alloc(4));
const ready = message('Z', Buffer.from('I'));
const isShutDown = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

/** A server that accepts every client, and sends its shutdown in the same packet. */
async function startDyingServer() {
  const sockets = new Set<Socket>();
  let asked = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      asked++;
      socket.end(Buffer.concat([authenticated, ready, isShutDown]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => asked,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a connection that is shut down as it is made costs the news, not the process', async (t) => {
  const server = await startDyingServer();
  t.after(() => server.stop());
  const pool = new Pool({ host: '127.0.0.1', port: server.port, user: 'u', database: 'd' });
  const store = new PostgresStore(pool, 'a dying server', { patienceMs: 100 });
  const unwatch = store.watch(() => {});
  const removed = once(pool, 'remove');
  await removed;
  assert.equal(server.asked(), 1);
  unwatch();
  // A query without a listener rejects, and does not end the process either.
  await assert.rejects(store.list(), { code: 'unwritable' });
  await store.close();
});
