/** The workbench's server over a folder of bundles: documents, missing ones, torn bundles, and the end of a job. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findTargets } from '../../src/workbench/items/targets.ts';
import type { JobEvent, ViewState } from '../../src/workbench/protocol.ts';
import { serveWorkbench, type Workbench } from '../../src/workbench/server/serve.ts';
import { writeHeapOfQuestions } from '../support/heaps/heap-of-questions.ts';
import { markup } from '../support/hostile/synth-bundle-hostile.ts';
import { onlyWide } from '../support/run/test-nodes.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-workbench-'));
const older = '20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump';
const newer = '20261121T030405.678Z-agent-uncaught-exception-44556677.agentdump';
const torn = '20261122T030405.678Z-agent-uncaught-exception-8899aabb.agentdump';
const assets = { script: '/* script */', style: '/* style */' };
let workbench: Workbench;

before(async () => {
  mkdirSync(join(root, 'dumps'), { mode: 0o700 });
  writeBundle(join(root, 'dumps', older), synthParts({}));
  writeBundle(
    join(root, 'dumps', newer),
    synthParts({ 'agent.json': { state: { goal: markup }, providers: {} } }),
  );
  mkdirSync(join(root, 'dumps', torn));
  writeFileSync(join(root, 'dumps', torn, 'manifest.json'), '{"schema": "agentdump.bund');
  writeFileSync(join(root, 'secret.txt'), 'not for a page');
  writeHeapOfQuestions(join(root, 'dumps', 'orders.heapsnapshot'));
  // The oldest, whatever the clock says.
  utimesSync(join(root, 'dumps', 'orders.heapsnapshot'), 1_000_000_000, 1_000_000_000);
  writeFileSync(join(root, 'dumps', 'torn.heapsnapshot'), '{"snapshot":{"meta":');
  utimesSync(join(root, 'dumps', 'torn.heapsnapshot'), 1_000_000_001, 1_000_000_001);
  workbench = await serveWorkbench({ targets: findTargets(undefined, join(root, 'dumps')), assets });
});
after(async () => {
  await workbench.close();
  rmSync(root, { recursive: true, force: true });
});

interface Got {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

const base = (): string => new URL(workbench.url).pathname;

/** Uses node:http, because fetch normalises an address before it sends the request. */
function get(path: string, { method = 'GET', headers = {} } = {}): Promise<Got> {
  const { port, pathname } = new URL(workbench.url);
  return new Promise((resolve, reject) => {
    const asking = request(
      { host: '127.0.0.1', port, path: pathname + path, method, headers },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (more: string) => {
          text += more;
        });
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      },
    );
    asking.once('error', reject);
    asking.end();
  });
}

function partOf<T>(text: string, id: string): T {
  const [, json = ''] =
    new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, 's').exec(text) ?? [];
  return JSON.parse(json) as T;
}

/** The final view of an address, however long its job takes. */
async function view(path: string): Promise<{ state: ViewState; text: string }> {
  for (;;) {
    const { status, text } = await get(path);
    assert.equal(status, 200, text);
    const state = partOf<ViewState>(text, 'state');
    if (state.view !== 'loading') return { state, text };
    await eventsOf(state.job);
  }
}

async function eventsOf(job: string): Promise<JobEvent[]> {
  const { text } = await get(`jobs/${job}/events`);
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
}

test('the list: newest first, what is torn among them', async () => {
  const { state } = await view('');
  assert.ok(state.view === 'list');
  assert.deepEqual(
    state.items.map(({ name, state: how }) => [name, how]),
    [
      [torn, 'unreadable'],
      [newer, 'sealed'],
      [older, 'sealed'],
      ['torn.heapsnapshot', undefined],
      ['orders.heapsnapshot', undefined],
    ],
  );
});

test('a bundle: its account stands in the document, and no text of it ends its element', async () => {
  const { state, text } = await view(`items/${newer}`);
  assert.ok(state.view === 'account' && state.hasList);
  const account = partOf<{ schema: string; agent: { state: { goal: string } } }>(text, 'account');
  assert.equal(account.schema, 'agentdump.analysis/1');
  assert.ok(account.agent.state.goal.includes('<img'));
  assert.ok(!text.includes('<img'));
});

test('a torn bundle says why, and can be tried again', async () => {
  for (let tries = 0; tries < 2; tries++) {
    const { state } = await view(`items/${torn}`);
    assert.ok(state.view === 'failed');
    assert.match(state.reason, /is no bundle/);
  }
});

test('two bundles', async () => {
  const { state } = await view(`diff/${older}/${newer}`);
  assert.ok(state.view === 'diff');
  assert.equal(state.diff.sameSignature, true);
  assert.equal(state.accounts.length, 2);
});

test('a heap: opened once, then asked', async () => {
  assert.equal(
    (await get('items/orders.heapsnapshot')).headers['location'],
    `${base()}heap/orders.heapsnapshot`,
  );
  const ask = (...questions: (object | string)[]) =>
    get(
      `heap/orders.heapsnapshot/ask?${new URLSearchParams(questions.map((one): [string, string] => ['q', JSON.stringify(one)]))}`,
    );
  assert.equal((await ask({ ask: 'suspects' })).status, 410, 'before it was opened');
  const { state } = await view('heap/orders.heapsnapshot');
  assert.ok(state.view === 'heap');
  const orders = { ask: 'query', text: 'class = Order', from: 0, count: 1 };
  const wrong = { ask: 'query', text: 'class = <img>', from: 0, count: 1 };
  const answered = await ask(orders, wrong, 'none', { ask: 'object', id: 2 ** 40 }, { ask: 'suspects' });
  assert.equal(answered.status, 200);
  assert.match(String(answered.headers['content-type']), /^application\/json/);
  const [query, ...others] = JSON.parse(answered.text) as { answer?: { matches: number }; reason?: string }[];
  assert.equal(query?.answer?.matches, 300);
  assert.deepEqual(
    others.map(({ answer, reason }) => [answer !== undefined, reason !== undefined]),
    [
      [false, true],
      [false, true],
      [false, true],
      [true, false],
    ],
  );
  assert.equal((await ask(...Array(9).fill(orders))).status, 400);
  assert.equal((await get('heap/orders.heapsnapshot/ask')).status, 400);
  assert.equal((await get('heap/none/ask?q=1')).status, 410);
});

test('two heaps, and more than three', async () => {
  const { state } = await view('growth/orders.heapsnapshot/orders.heapsnapshot');
  assert.ok(state.view === 'growth');
  assert.deepEqual([state.growth.matchedBy, state.growth.classCount], ['id', 0]);
  assert.equal((await get(`growth/${Array(4).fill('orders.heapsnapshot').join('/')}`)).status, 404);
  const torn = await view(`growth/orders.heapsnapshot/${older}`);
  assert.ok(torn.state.view === 'failed');
  assert.match(torn.state.reason, /no heap snapshot/);
});

test('three heaps', { skip: onlyWide }, async () => {
  const { state } = await view('growth/orders.heapsnapshot/orders.heapsnapshot/orders.heapsnapshot');
  assert.ok(state.view === 'growth');
  assert.deepEqual([state.items.length, state.growth.snapshots.length], [3, 3]);
});

test('a heap that is torn, and a bundle without one, say so', async () => {
  for (const id of ['torn.heapsnapshot', older]) {
    const { state } = await view(`heap/${id}`);
    assert.ok(state.view === 'failed', id);
    assert.match(state.reason, /no heap snapshot|snapshot|heapsnapshot/);
  }
});

test('a job can be ended by the page that waits for it', async () => {
  const origin = new URL(workbench.url).origin;
  await get('heap/orders.heapsnapshot');
  const cancel = 'jobs/heap-orders.heapsnapshot/cancel';
  assert.equal((await get(cancel, { method: 'POST' })).status, 403);
  assert.equal((await get(cancel, { method: 'POST', headers: { origin } })).status, 200);
  assert.equal((await get(cancel, { method: 'POST', headers: { origin } })).status, 404);
});

test('nothing but what is listed can be named', async () => {
  for (const path of [
    'items/',
    'items/..',
    'items/../secret.txt',
    'items/..%2Fsecret.txt',
    'items/%2e%2e%2fsecret.txt',
    '../secret.txt',
    'secret.txt',
    `items/${older}/manifest.json`,
    `items/${join(root, 'secret.txt')}`,
    `diff/${older}`,
    `diff/${older}/none`,
    'jobs/none/events',
    'workbench.js/',
    '%00',
    '__proto__',
  ]) {
    const { status, text } = await get(path);
    assert.equal(status, 404, path);
    assert.ok(!text.includes('not for a page'), path);
  }
});

test('its own files, under a strict policy and never kept', async () => {
  const script = await get('workbench.js');
  assert.deepEqual([script.status, script.text], [200, assets.script]);
  assert.match(String(script.headers['content-type']), /^text\/javascript/);
  for (const path of ['', 'workbench.css', 'none']) {
    const { headers } = await get(path);
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self'; .*trusted-types 'none'$/,
    );
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

test('it reads only, and answers no other page', async () => {
  assert.equal((await get('', { method: 'POST' })).status, 405);
  assert.equal((await get('', { method: 'DELETE' })).status, 405);
  assert.equal((await get('', { headers: { origin: 'http://evil.example' } })).status, 403);
  assert.equal((await get('', { headers: { host: 'evil.example' } })).status, 421);
  assert.equal((await get('', { method: 'HEAD' })).text, '');
});

test('one thing alone has no list, and a path that is none is not found', async () => {
  const alone = await serveWorkbench({ targets: findTargets(join(root, 'dumps', older), root), assets });
  const { status, headers } = await fetch(alone.url, { redirect: 'manual' });
  assert.equal(status, 302);
  assert.ok(headers.get('location')?.endsWith('/items/bundle'));
  await alone.close();
  assert.throws(() => findTargets(join(root, 'nowhere'), root), { code: 'not-found' });
  assert.throws(() => findTargets(undefined, join(root, 'nowhere')), { code: 'not-found' });
});

test('a core, a snapshot and a bundle are told by what they are, whatever their name', () => {
  const core = Buffer.alloc(64);
  core.write('\x7fELF\x02\x01', 'latin1');
  core.writeUInt16LE(4, 16);
  writeFileSync(join(root, 'a-file'), core);
  writeFileSync(join(root, 'another'), '{"snapshot":{}}');
  const kinds = ['a-file', 'another', join('dumps', older)].map((name) => {
    const [item] = findTargets(join(root, name), root).list();
    return item?.row.kind;
  });
  assert.deepEqual(kinds, ['core', 'heap', 'bundle']);
});

test('a port that is taken is said', async () => {
  const port = Number(new URL(workbench.url).port);
  const targets = findTargets(undefined, join(root, 'dumps'));
  await assert.rejects(serveWorkbench({ targets, assets, port }), { code: 'unwritable' });
});
