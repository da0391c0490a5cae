/**
 * Hostile folders in the workbench: every hostile bundle, and files that are not what their names say. Each is listed and
 * opened; the server goes on, hands out nothing from outside, and its documents contain no markup of theirs.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { findTargets } from '../../src/workbench/items/targets.ts';
import type { ViewState } from '../../src/workbench/protocol.ts';
import { serveWorkbench, type Workbench } from '../../src/workbench/server/serve.ts';
import { type HostileInput, hostileInputs, markup } from '../support/hostile/synth-bundle-hostile.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-hostile-'));
const dumps = join(root, 'dumps');
const outside = 'a line of a file outside of the folder';
let workbench: Workbench;

const named = (n: number, ending = ''): string =>
  `20261122T${String(100_000 + n).slice(1)}5.678Z-stranger-uncaught-exception-${(0x10_00_00_00 + n).toString(16)}.agentdump${ending}`;

/** Under a name by which the workbench takes it for what it pretends to be. */
function writeInput({ path, files, links = {} }: HostileInput, n: number): void {
  const file = files.get('');
  if (file) {
    const ending = /\.(zip\.age|zip|heapsnapshot)(\.gz)?$/.exec(path)?.[0];
    const name = path.startsWith('core/')
      ? `core.${n}`
      : ending?.startsWith('.heapsnapshot')
        ? `input-${n}${ending}`
        : named(n, ending ?? '.zip');
    writeFileSync(join(dumps, name), file);
    return;
  }
  const folder = join(dumps, named(n));
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
}

before(async () => {
  mkdirSync(dumps, { mode: 0o700 });
  writeFileSync(join(root, 'outside.txt'), outside);
  hostileInputs().forEach(writeInput);
  writeBundle(join(dumps, named(9_000)), synthParts({}));
  symlinkSync(join(root, 'no such file'), join(dumps, 'gone.heapsnapshot'));
  symlinkSync(join(root, 'no such file'), join(dumps, 'core.404'));
  symlinkSync(join(root, 'outside.txt'), join(dumps, 'outside.heapsnapshot'));
  mkdirSync(join(dumps, 'folder.heapsnapshot'));
  mkdirSync(join(dumps, 'core.folder'));
  execFileSync('mkfifo', [join(dumps, 'pipe.heapsnapshot'), join(dumps, 'core.pipe')]);
  writeFileSync(join(dumps, `core.${markup.replaceAll('/', '')}`), Buffer.from('7f454c46', 'hex'));
  writeFileSync(join(dumps, 'core.torn'), Buffer.from(`7f454c46020101${'00'.repeat(9)}0400`, 'hex'));
  writeFileSync(join(dumps, 'core.packed'), Buffer.from('1f8b08000000000000ff', 'hex'));
  const assets = { script: '', style: '' };
  workbench = await serveWorkbench({ targets: findTargets(undefined, dumps), assets });
});
after(async () => {
  await workbench.close();
  rmSync(root, { recursive: true, force: true });
});

/** The state of a document, once its job has ended. */
async function stateOf(path: string): Promise<{ state: ViewState; html: string }> {
  for (let tries = 0; tries < 240; tries++) {
    const response = await fetch(workbench.url + path);
    const html = await response.text();
    assert.equal(response.status, 200, `${path}: ${html.slice(0, 200)}`);
    const state: ViewState = JSON.parse(/id="state">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    if (state.view !== 'loading') return { state, html };
    await delay(500);
  }
  throw new Error(`${path} never ends`);
}

function harmless(html: string, what: string): void {
  assert.ok(!html.includes(outside), what);
  assert.ok(!html.includes('root:x:0:0'), what);
  assert.ok(!/<img|<script>alert|\u001b/.test(html), what);
}

test('the list of a hostile folder', async () => {
  const { state, html } = await stateOf('');
  assert.equal(state.view, 'list');
  harmless(html, 'list');
  const ids = state.view === 'list' ? state.items.map(({ id }) => decodeURIComponent(id)) : [];
  assert.ok(ids.includes('core.torn'));
  for (const name of [
    'gone.heapsnapshot',
    'core.404',
    'core.folder',
    'folder.heapsnapshot',
    'pipe.heapsnapshot',
    'core.pipe',
  ])
    assert.ok(!ids.includes(name), name);
});

test('every item is opened: shown or refused with a reason', async () => {
  const { state } = await stateOf('');
  const items = state.view === 'list' ? state.items : [];
  assert.ok(items.length > 50, `${items.length} items`);
  // Each takes a thread, whose start costs more than the reading; the inputs themselves are tried by the tests of their readers.
  const own = ['core.torn', 'core.packed', 'outside.heapsnapshot'];
  const tried = items.filter(({ id }, n) => own.includes(id) || n % 40 === 0);
  assert.ok(tried.length > 5);
  for (const { id, kind } of tried)
    for (const path of kind === 'bundle' ? [`items/${id}`] : [`items/${id}`, `heap/${id}`]) {
      const shown = await stateOf(path);
      harmless(shown.html, decodeURIComponent(id));
      if (shown.state.view === 'failed') assert.ok(shown.state.reason.length > 5, id);
    }
  assert.equal((await fetch(workbench.url)).status, 200);
});
