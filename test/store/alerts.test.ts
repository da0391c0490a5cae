/** Alerts: when one is due, what a webhook receives, and that each alert is sent once, even if the webhook was down. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { IssueStory } from '../../src/model/fleet/issue.ts';
import { tellAlerts } from '../../src/store/alerts/alerts.ts';
import { alertsFor } from '../../src/store/alerts/due.ts';
import { postAlert, webhookOf } from '../../src/store/alerts/webhook.ts';
import { resolveIssue } from '../../src/store/issues.ts';
import type { Store } from '../../src/store/open-store.ts';
import { sendBundle } from '../../src/store/sending/send.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { newStore } from './new-store.ts';
import { writeDeath } from './synth-death.ts';

const now = Date.parse('2026-11-25T10:30:00Z');
const hourMs = 60 * 60_000;
const hourAt = (hoursBefore: number): string =>
  new Date(Date.parse('2026-11-25T10:00:00Z') - hoursBefore * hourMs).toISOString();
const none = { count: 0, hosts: 0 };

function storyOf(changes: Partial<IssueStory> = {}): IssueStory {
  return {
    id: '0cb38104aaaaaaaa',
    title: 'Error: card <4711> & more',
    kind: 'uncaught-exception',
    count: 3,
    firstSeen: '2026-11-20T10:00:00.000Z',
    lastSeen: '2026-11-25T10:29:00.000Z',
    status: 'ongoing',
    because: 'equal stacks',
    signatures: [],
    bundles: 3,
    runs: 0,
    hours: [],
    releases: [],
    programs: [{ name: 'shop', count: 3 }],
    hosts: [],
    nodeVersions: [],
    environments: [],
    agents: [],
    deaths: [],
    ...changes,
  };
}

const kinds = (story: IssueStory, recent = none): string[] =>
  alertsFor(story, recent, now).map(({ kind, occasion }) => `${kind} ${occasion}`.trim());

test('a new issue, and one that is back, are told; the others are not', () => {
  assert.deepEqual(kinds(storyOf({ status: 'new' })), ['new']);
  assert.deepEqual(kinds(storyOf({ status: 'regressed', resolved: { at: '2026-11-24T00:00:00.000Z' } })), [
    'regressed 2026-11-24T00:00:00.000Z',
  ]);
  for (const status of ['ongoing', 'resolved', 'ignored'] as const)
    assert.deepEqual(kinds(storyOf({ status })), []);
  assert.deepEqual(kinds(storyOf({ status: 'new', kind: 'terminated' })), [], 'a deploy');
});

test('a spike is four times the hourly mean of the day before, and at least ten', () => {
  const usual = Array.from({ length: 24 }, (_, at) => ({ hour: hourAt(at + 1), count: 5 }));
  assert.deepEqual(kinds(storyOf({ hours: [...usual, { hour: hourAt(0), count: 20 }] })), [
    'spike 2026-11-25',
  ]);
  assert.deepEqual(kinds(storyOf({ hours: [...usual, { hour: hourAt(0), count: 19 }] })), []);
  assert.deepEqual(kinds(storyOf({ hours: [{ hour: hourAt(0), count: 10 }] })), ['spike 2026-11-25']);
  assert.deepEqual(kinds(storyOf({ hours: [{ hour: hourAt(0), count: 9 }] })), []);
  assert.deepEqual(kinds(storyOf({ hours: [{ hour: hourAt(5), count: 90 }] })), [], 'it is over');
  assert.deepEqual(
    kinds(storyOf({ firstSeen: hourAt(3), hours: [{ hour: hourAt(0), count: 90 }] })),
    [],
    'nothing is usual yet',
  );
});

test('a crash loop is on several machines', () => {
  assert.deepEqual(kinds(storyOf(), { count: 5, hosts: 2 }), ['crash-loop 2026-11-25T10']);
  assert.deepEqual(kinds(storyOf(), { count: 50, hosts: 1 }), []);
  assert.deepEqual(kinds(storyOf(), { count: 4, hosts: 4 }), []);
});

interface Hook {
  url: string;
  bodies: { [name: string]: unknown }[];
  status: number;
}

async function startHook(t: TestContext): Promise<Hook> {
  const hook: Hook = { url: '', bodies: [], status: 200 };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      if (hook.status === 200) hook.bodies.push(JSON.parse(text));
      response.writeHead(hook.status, { location: 'http://127.0.0.1:1/' }).end('taken');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/secret`;
  return hook;
}

test('the JSON form and the Slack form, in which a title mentions nobody', async (t) => {
  const hook = await startHook(t);
  const [alert] = alertsFor(storyOf({ status: 'new' }), none, now);
  await postAlert(webhookOf(hook.url, undefined), alert!, storyOf());
  await postAlert(webhookOf(hook.url, 'slack'), alert!, storyOf());
  const [json, slack] = hook.bodies;
  assert.deepEqual([json?.['schema'], json?.['kind']], ['agentdump.alert/1', 'new']);
  assert.equal((json?.['issue'] as { id?: string } | undefined)?.id, '0cb38104aaaaaaaa');
  assert.equal(
    slack?.['text'],
    'new: Error: card &lt;4711&gt; &amp; more\nshop · 3 deaths, the last 2026-11-25T10:29:00.000Z · agentdump issues show 0cb38104',
  );
  assert.equal(webhookOf('https://hooks.slack.com/services/x', undefined).form, 'slack');
  assert.throws(() => webhookOf('ftp://x', undefined), { code: 'usage' });
  assert.throws(() => webhookOf(hook.url, 'teams'), { code: 'usage' });
});

test('a webhook that refuses, redirects or is away is named by its host alone', async (t) => {
  const hook = await startHook(t);
  const [alert] = alertsFor(storyOf({ status: 'new' }), none, now);
  for (const status of [404, 500, 302]) {
    hook.status = status;
    await assert.rejects(postAlert(webhookOf(hook.url, undefined), alert!, storyOf()), (error: Error) => {
      assert.match(error.message, /^the webhook at 127\.0\.0\.1:\d+ did not take an alert: /);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  await assert.rejects(
    postAlert(webhookOf(`http://127.0.0.1:${port}/`, undefined), alert!, storyOf()),
    /ECONNREFUSED/,
  );
});

test('each alert is told once, and after the webhook was away', async (t) => {
  let store: Store | undefined;
  t.after(() => store?.close());
  const folder = temporaryFolder(t);
  store = await newStore(join(folder, 'store'));
  const { index } = store;
  const hook = await startHook(t);
  const webhook = webhookOf(hook.url, undefined);
  const die = async (minutesAgo: number, message?: string) => {
    const at = new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const { issue } = await sendBundle(store, writeDeath(folder, { at, ...(message && { message }) }));
    return new Set([issue ?? assert.fail()]);
  };
  hook.status = 503;
  const first = await die(120);
  await assert.rejects(tellAlerts(store, webhook, first), /status 503/);
  hook.status = 200;
  assert.equal(await tellAlerts(store, webhook, first), 0, 'who took it has two minutes');
  await index.query("update agentdump_alerts set claimed_at = now() - interval '3 minutes'");
  assert.equal(await tellAlerts(store, webhook, new Set()), 1);
  assert.equal(await tellAlerts(store, webhook, await die(110)), 0, 'it is not new any more');
  const [id = ''] = first;
  await resolveIssue(index, id);
  await index.query("update agentdump_issues set resolved_at = now() - interval '1 hour'");
  assert.equal(await tellAlerts(store, webhook, await die(1)), 1);
  assert.equal(await tellAlerts(store, webhook, await die(0)), 0);
  assert.deepEqual(
    hook.bodies.map(({ kind }) => kind),
    ['new', 'regressed'],
  );
});
