/** A request that arrives at a server is matched to who sent it from the same process, and to nobody else. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Origin } from '../../../src/agent/record/causal-context.ts';
import { watchSentRequests } from '../../../src/testing/sent-requests.ts';

test('each request is that of its sender: over one connection, in parallel, fetched, and after one of nobody', async (t) => {
  const current = new AsyncLocalStorage<Origin & { name: string }>();
  const { senderOf, senderOn } = watchSentRequests(() => current.getStore());
  const arrived: [path: string | undefined, sender: unknown][] = [];
  const answered: [path: string, sender: unknown][] = [];
  const server = createServer((message, response) => {
    arrived.push([message.url, senderOf(message.socket)]);
    response.end('ok');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = (path: string, body?: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path, agent, method: 'POST' }, (response) => {
        answered.push([path, asked.socket && senderOn(asked.socket)]);
        response.resume().on('end', resolve);
      }).on('error', reject);
      asked.end(body);
    });
  const as = <T>(name: string, work: () => T): T => current.run({ kind: 'test', name }, work);
  const url = `http://127.0.0.1:${port}`;
  await as('one', () => ask('/one'));
  await ask('/nobody');
  await as('two', () => ask('/two', 'x'.repeat(200_000)));
  await as('three', () => fetch(`${url}/three`).then((response) => response.text()));
  await fetch(`${url}/nobody`).then((response) => response.text());
  // Both wait for one connection, which neither has when the other is made.
  await Promise.all([as('four', () => ask('/four')), as('five', () => ask('/five'))]);
  const namesOf = (list: [path: string | undefined, sender: unknown][]) =>
    list.map(([path, sender]) => [path, (sender as { name: string } | undefined)?.name]);
  assert.deepEqual(namesOf(answered), [
    ['/one', 'one'],
    ['/nobody', undefined],
    ['/two', 'two'],
    ['/four', 'four'],
    ['/five', 'five'],
  ]);
  const named = namesOf(arrived);
  assert.deepEqual(named, [
    ['/one', 'one'],
    ['/nobody', undefined],
    ['/two', 'two'],
    ['/three', 'three'],
    ['/nobody', undefined],
    ['/four', 'four'],
    ['/five', 'five'],
  ]);
});

test('requests that are over are not kept, though none arrives here', async (t) => {
  const current = { kind: 'test' } as const;
  watchSentRequests(() => current);
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked: WeakRef<object>[] = [];
  for (let n = 0; n < 20; n++)
    await new Promise((resolve) => {
      const one = request({ port, host: '127.0.0.1', agent: false }, (response) =>
        response.resume().on('end', resolve),
      );
      asked.push(new WeakRef(one));
      one.end();
    });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The last ones are only let go when the next one is made.
  for (let turn = 0; turn < 50 && asked.filter((one) => one.deref()).length > 3; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  assert.ok(asked.filter((one) => one.deref()).length <= 3);
});
