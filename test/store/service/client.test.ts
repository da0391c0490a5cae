/** What asks a service: how long it waits, and what it takes for an address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { ServiceClient } from '../../../src/store/service/client.ts';
import { openRemoteStore } from '../../../src/store/service/remote-store.ts';

test('a service that never answers is not waited for without limit', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const client = new ServiceClient(`http://127.0.0.1:${port}/`, 'adt_x', { answerMs: 50, uploadedMs: 50 });
  const body = () => Readable.from([Buffer.from('bytes')]);
  await assert.rejects(client.ask('v1/uploads/x', { method: 'PUT', body }), {
    code: 'unwritable',
    message: /no answer within 0.05 s/,
  });
  silent.closeAllConnections();
});

test('a bundle that takes longer to come than an answer may take to begin arrives', async (t) => {
  const slow = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 4 }).write('ab');
    setTimeout(() => response.end('cd'), 200);
  }).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  t.after(() => slow.close());
  const { port } = slow.address() as AddressInfo;
  const client = new ServiceClient(`http://127.0.0.1:${port}/`, 'adt_x', { answerMs: 150, uploadedMs: 50 });
  assert.equal(await (await client.ask('v1/bundles/x')).text(), 'abcd');
});

test('addresses that name no service', () => {
  for (const place of ['https://', 'https://user:pw@host/', 'https://host/?x=1'])
    assert.throws(() => openRemoteStore(place, 'adt_x'), { code: 'usage' }, place);
  assert.throws(() => openRemoteStore('https://host/', ''), /set AGENTDUMP_STORE_TOKEN/);
});

test('a server that is no service of a store is told from one, whatever it answers', async (t) => {
  let body = '';
  const other = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const store = openRemoteStore(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`, 'adt_x');
  for (body of [
    'null',
    '1',
    '[]',
    '{}',
    '{"issues":{}}',
    '{"id":"x"}',
    '{"id":"x","deaths":[null]}',
    '{"id":"x","deaths":[{"path":1}]}',
    '{"id":"x","deaths":[{"path":"http://["}]}',
  ])
    for (const ask of [
      () => store.list(),
      () => store.countOutdated(),
      () => store.show('x'),
      () => store.decide({ action: 'ignore', id: 'x' }),
    ])
      await assert.rejects(ask, { code: 'unwritable', message: /its answer is none of a store/ }, body);
});
