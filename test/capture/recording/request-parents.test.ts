/**
 * A request has no parent but its server's: not the request before it on the same connection, which it would keep in memory.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { CausalContext, type Origin } from '../../../src/agent/record/causal-context.ts';
import { watchRequests } from '../../../src/capture/recording/request-watch.ts';

test('requests over one connection do not hang on one another, and keep whose the server is', async (t) => {
  const causal = new CausalContext();
  const owner: Origin = { kind: 'test' };
  causal.enter(owner);
  const requests = watchRequests({ context: 'always' }, causal);
  t.after(() => requests.undo());
  const parents: unknown[] = [];
  const server = createServer((_request, response) => {
    parents.push(...requests.open().map(({ parent }) => parent?.kind));
    response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = server.address() as AddressInfo;
  for (let n = 0; n < 4; n++)
    await new Promise((resolve) => {
      get({ port, host: '127.0.0.1', agent }, (response) => response.resume().on('end', resolve));
    });
  agent.destroy();
  server.close();
  assert.deepEqual(parents, ['test', 'test', 'test', 'test']);
});

test('a connection is that of its unanswered request, also when the client has gone', async (t) => {
  const requests = watchRequests({ context: 'off' }, new CausalContext());
  t.after(() => requests.undo());
  const server = createServer((request, response) => {
    if (request.url === '/answered') response.end('ok');
    else asked.destroy();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const at = { port, host: '127.0.0.1', agent: false } as const;
  const answered = once(server, 'request');
  await new Promise((resolve) => {
    get({ ...at, path: '/answered' }, (response) => response.resume().on('end', resolve));
  });
  const [first] = (await answered) as [IncomingMessage];
  assert.equal(requests.onConnection(first.socket), undefined);
  const given = once(server, 'request');
  const asked = get({ ...at, path: '/given-up' }).on('error', () => {});
  const [second] = (await given) as [IncomingMessage];
  const { socket } = second;
  if (!socket.closed) await once(socket, 'close');
  assert.deepEqual(requests.open(), []);
  assert.equal(requests.onConnection(socket)?.number, 2);
});
