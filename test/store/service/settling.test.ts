/** Retention and alerts are the service's: what a sender that only uploads brings about. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomId, writeDeath } from '../synth-death.ts';
import { serviceUnderTest } from './under-test.ts';

const tested = serviceUnderTest();
const variables = ['AGENTDUMP_STORE_KEEP', 'AGENTDUMP_ALERTS', 'AGENTDUMP_ALERT_FORM'];

test('surplus bundles are removed, and each thing that is new is told once', async (t) => {
  const told: { kind: string; issue: { id: string } }[] = [];
  let status = 500;
  const webhook = createServer(async (request, response) => {
    const alert = JSON.parse(await text(request));
    if (status === 200) told.push(alert);
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  t.after(() => webhook.close());
  const before = variables.map((name) => [name, process.env[name]] as const);
  t.after(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  delete process.env['AGENTDUMP_ALERT_FORM'];
  process.env['AGENTDUMP_STORE_KEEP'] = '2';
  process.env['AGENTDUMP_ALERTS'] = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;

  const ids = Array.from({ length: 4 }, () => randomId());
  const send = (n: number) => {
    const at = new Date(Date.now() - (10 - n) * 60_000).toISOString();
    return tested.sendAs('send', writeDeath(tested.dumps, { id: ids[n]!, at, release: '1.0.0' }));
  };
  const { issue = '', outcome, because } = await send(0);
  assert.equal(outcome, 'stored', because);
  assert.equal(told.length, 0, 'the webhook was down');
  assert.equal(tested.notes.length, 1, String(tested.notes));
  status = 200;
  // Time passes: until then nobody waits for the webhook again.
  await tested.store.index.query("update agentdump_alerts set claimed_at = claimed_at - interval '1 hour'");
  for (const n of [1, 2, 3]) assert.equal((await send(n)).outcome, 'stored');
  assert.deepEqual(
    told.map((alert) => [alert.kind, alert.issue.id]),
    [['new', issue]],
  );
  const story = await tested.as('read').show(issue);
  assert.deepEqual([story.count, story.bundles], [4, 2]);
  const kept = story.deaths.filter(({ path }) => path !== undefined).map(({ bundle }) => bundle);
  assert.deepEqual(kept, [ids[3], ids[0]]);
  await assert.rejects(tested.as('read').fetch(ids[1]!), { code: 'not-found' });

  const manager = tested.as('manage');
  await manager.decide({ action: 'resolve', id: issue });
  // Of the same millisecond, a death may be one from before the decision; none may be of the future.
  await sleep(5);
  const later = writeDeath(tested.dumps, { at: new Date(Date.now() - 1).toISOString(), release: '1.0.0' });
  assert.equal((await tested.sendAs('send', later)).outcome, 'stored');
  assert.deepEqual(
    told.map(({ kind }) => kind),
    ['new', 'regressed'],
  );
});
