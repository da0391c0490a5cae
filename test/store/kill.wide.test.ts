/**
 * Senders killed at random moments, then one that runs undisturbed: each death is stored once, with its whole bundle. The last
 * test is a sample of `npm run trial:store`, which kills services and the database too.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifyBundle } from '../../src/bundle/finished/verify.ts';
import { listIssues, showIssue } from '../../src/store/issues.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startPostgres, whyNoPostgres } from '../support/system/postgres.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { storeTrial } from './store-trial.ts';
import { writeDeath } from './synth-death.ts';

const cli = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const bundles = 40;
const faults = ['a', 'b', 'c', 'd'];

interface Sending {
  code: number | null;
  ms: number;
  text: string;
}

/** The sender is not killed if `killAfterMs` is undefined. */
function send(dumps: string, place: string, killAfterMs?: number): Promise<Sending> {
  const began = performance.now();
  const child = spawn(process.execPath, [cli, 'send', '--all', '--dir', dumps, '--to', place], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.on('data', (chunk) => (text += chunk));
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ms: performance.now() - began, text });
    }),
  );
}

async function killSenders(t: TestContext, folder: string, places: [string, string], kills: number) {
  const dumps = join(folder, 'dumps');
  for (let n = 0; n < bundles; n++)
    writeDeath(dumps, { message: `killed, fault ${faults[n % faults.length]}` });
  const [elsewhere, place] = places;
  // Measured here and now, so that the kills fall into the work.
  const { ms, code, text } = await send(dumps, elsewhere);
  assert.equal(code, 0, text);
  let killed = 0;
  for (let n = 0; n < kills; n++) {
    const one = await send(dumps, place, ms * (0.2 + 0.5 * Math.random()));
    if (one.code === null) killed++;
  }
  const last = await send(dumps, place);
  assert.equal(last.code, 0, last.text);
  t.diagnostic(`${killed} of ${kills} killed; a whole sending took ${Math.round(ms)} ms`);
  const store = await openStore(place);
  try {
    const issues = await listIssues(store);
    assert.deepEqual(
      issues.map(({ count }) => count),
      faults.map(() => bundles / faults.length),
    );
    for (const { id } of issues) {
      const { deaths } = await showIssue(store, id, { mostDeaths: bundles });
      assert.equal(new Set(deaths.map(({ bundle }) => bundle)).size, bundles / faults.length);
      for (const { path, bundle } of deaths) {
        const { verdict, id: found } = verifyBundle(path ?? assert.fail());
        assert.deepEqual([verdict, found], ['whole', bundle]);
      }
    }
  } finally {
    await store.close();
  }
}

test('a store in a folder', async (t) => {
  assert.ok(existsSync(cli));
  const folder = temporaryFolder(t);
  await killSenders(t, folder, [join(folder, 'elsewhere'), join(folder, 'store')], 6);
});

test('a store in PostgreSQL', { skip: whyNoPostgres() ?? false }, async (t) => {
  const folder = temporaryFolder(t);
  const [one, other] = [await startPostgres(), await startPostgres()];
  t.after(() => Promise.all([one.remove(), other.remove()]));
  const blobs = join(folder, 'blobs');
  await killSenders(t, folder, [`${one.url} ${blobs}-elsewhere`, `${other.url} ${blobs}`], 12);
});

test('senders, services and the database', { skip: whyNoPostgres() ?? false }, async (t) => {
  const { lost, twice, torn, issues, faults, ...trial } = await storeTrial(80);
  t.diagnostic(JSON.stringify(trial));
  assert.deepEqual({ lost, twice, torn, issues }, { lost: 0, twice: 0, torn: 0, issues: faults });
});
