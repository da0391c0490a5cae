/**
 * The workbench over a store in a folder: the issues, the history of one issue, its bundles, and a store that others use at
 * the same time.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { showIssue } from '../../src/store/issues.ts';
import { openStore } from '../../src/store/open-store.ts';
import { sendBundle } from '../../src/store/sending/send.ts';
import { Fleet } from '../../src/workbench/fleet/fleet.ts';
import { findTargets } from '../../src/workbench/items/targets.ts';
import type { ViewState } from '../../src/workbench/protocol.ts';
import { serveWorkbench, type Workbench } from '../../src/workbench/server/serve.ts';
import { newStore } from '../store/new-store.ts';
import { randomId, writeDeath } from '../store/synth-death.ts';
import { markup } from '../support/hostile/synth-bundle-hostile.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-fleet-'));
const place = join(root, 'store');
const ids = { first: randomId(), second: randomId(), hostile: randomId() };
let workbench: Workbench;

before(async () => {
  const dumps = join(root, 'dumps');
  mkdirSync(dumps, { mode: 0o700 });
  const store = await newStore(place);
  for (const death of [
    { id: ids.first, release: '1.0.0', host: 'web-1' },
    { id: ids.second, release: '1.1.0', host: 'web-2', at: '2026-11-22T03:04:05.678Z' },
    { id: ids.hostile, message: markup, host: markup },
  ])
    assert.equal((await sendBundle(store, writeDeath(dumps, death))).outcome, 'stored');
  await store.close();
  workbench = await serveWorkbench({
    targets: findTargets(place, dumps),
    assets: { script: '', style: '' },
  });
});
after(async () => {
  await workbench.close();
  rmSync(root, { recursive: true, force: true });
});

async function view(path: string): Promise<{ state: ViewState; text: string; status: number }> {
  for (;;) {
    const answer = await fetch(workbench.url + path);
    const text = await answer.text();
    const [, json = '{}'] = /<script type="application\/json" id="state">(.*?)<\/script>/s.exec(text) ?? [];
    const state = JSON.parse(json) as ViewState;
    if (state.view !== 'loading') return { state, text, status: answer.status };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('the issues, and the story of one with the facts of `issues show`', async () => {
  const { state } = await view('');
  assert.ok(state.view === 'issues');
  assert.deepEqual(state.issues.map(({ count }) => count).sort(), [1, 2]);
  const issue = state.issues.find(({ count }) => count === 2) ?? assert.fail();
  const shown = await view(`issues/${issue.id.slice(0, 8)}`);
  assert.ok(shown.state.view === 'issue');
  await workbench.close();
  const store = await openStore(place);
  const story = await showIssue(store, issue.id, { mostDeaths: 200 });
  await store.close();
  assert.deepEqual(shown.state.story, story);
  assert.deepEqual(
    shown.state.story.deaths.map(({ bundle }) => bundle),
    [ids.second, ids.first],
  );
  workbench = await serveWorkbench({
    targets: findTargets(place, root),
    assets: { script: '', style: '' },
  });
});

test('a bundle of the store, two beside each other, and what is not there', async () => {
  const account = await view(`items/${ids.first}`);
  assert.ok(account.state.view === 'account');
  assert.match(account.state.item.issue ?? '', /^[0-9a-f]{16}$/);
  const diff = await view(`diff/${ids.first}/${ids.second}`);
  assert.ok(diff.state.view === 'diff' && diff.state.diff.sameSignature);
  const none = await view('issues/ffffffff');
  assert.ok(none.state.view === 'failed');
  assert.match(none.state.reason, /there is no issue ffffffff/);
  for (const path of ['items/ffffffffffffffff', 'issues', 'issues/a/b', "items/x' or true --"])
    assert.equal((await view(path)).status, 404, path);
});

test('nothing of a hostile bundle is markup', async () => {
  const { text } = await view('');
  assert.ok(text.includes('\\u003cimg'));
  assert.ok(!text.includes('<img'));
});

test('who sends gets the store between two questions', async () => {
  await workbench.close();
  const fleet = new Fleet(place, place, 50);
  assert.equal((await fleet.list()).length, 2);
  const store = await openStore(place);
  await store.close();
  assert.equal((await fleet.list()).length, 2);
  await fleet.close();
});
