/** Jobs: a thread each, its messages, its end when cancelled, and which results are kept. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Job, Jobs } from '../../src/workbench/items/jobs.ts';
import type { JobEvent } from '../../src/workbench/protocol.ts';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const root = mkdtempSync(join(tmpdir(), 'agentdump-jobs-'));
after(() => rmSync(root, { recursive: true, force: true }));
const path = join(root, '20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump');
writeBundle(path, synthParts({}));

function endOf(job: Job): Promise<JobEvent> {
  return new Promise((resolve) => {
    job.listen((event) => {
      if (event.kind !== 'progress') resolve(event);
    });
  });
}

test('a job says how far it is, and has a result; who asks again gets the same', async () => {
  const jobs = new Jobs();
  const job = jobs.start('a', { what: 'account', path });
  assert.equal(job.progress?.text, 'starting');
  assert.deepEqual(await endOf(job), { kind: 'ready' });
  assert.equal(JSON.parse(job.result ?? '').schema, 'agentdump.analysis/1');
  assert.equal(jobs.start('a', { what: 'account', path }), job);
  assert.deepEqual(await endOf(job), { kind: 'ready' });
  jobs.close();
});

test('what fails says why', async () => {
  const jobs = new Jobs();
  const job = jobs.start('a', { what: 'account', path: join(root, 'nowhere') });
  const event = await endOf(job);
  assert.ok(event.kind === 'failed');
  assert.match(event.reason, /nowhere/);
  jobs.close();
});

test('a job that is cancelled ends at once, and is forgotten', async () => {
  const core = join(root, 'core');
  writeFileSync(core, Buffer.alloc(64));
  const jobs = new Jobs();
  const job = jobs.start('a', { what: 'core', path: core });
  const ended = endOf(job);
  jobs.forget('a');
  assert.deepEqual(await ended, { kind: 'failed', reason: 'cancelled' });
  assert.equal(jobs.get('a'), undefined);
});

test('of many results the oldest go', async () => {
  const jobs = new Jobs(1);
  const path = join(root, 'nowhere');
  for (const name of ['first', 'second', 'third']) await endOf(jobs.start(name, { what: 'account', path }));
  // A job that is still running is not discarded.
  jobs.start('fourth', { what: 'account', path });
  assert.equal(jobs.get('first'), undefined);
  assert.equal(jobs.get('second'), undefined);
  assert.ok(jobs.get('third') && jobs.get('fourth'));
  jobs.close();
});
