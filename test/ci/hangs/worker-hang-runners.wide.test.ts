/** A test that spins in a runner's worker thread: the line in the source as written, and the thread's own stack. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  canRun,
  type RunnerName,
  runnerCommands,
  runUnderCi,
  suitesFolder,
} from '../../support/runners/runner-matrix.ts';
import { onlyAccountOf } from '../../support/victims/run-account.ts';

for (const runner of ['vitest threads', 'ava'] satisfies RunnerName[])
  test(`${runner}: the test, and its line as it was written`, { skip: canRun() }, async (context) => {
    const folder = suitesFolder(context);
    const lines = readFileSync(join(folder, 'deaths.mjs'), 'utf8').split('\n');
    const spins = lines.findIndex((line) => line.includes('for (;;) Math.random()')) + 1;
    const run = await runUnderCi({
      folder,
      death: 'spin',
      command: runnerCommands[runner],
      hangAfter: '4s',
    });
    const [told] = run.summary?.bundles ?? [];
    assert.equal(told?.kind, 'event-loop-hang', run.output);
    assert.equal(told?.test?.name.at(-1), 'books the cheapest');
    assert.deepEqual([told?.place?.file, told?.place?.line], ['deaths.mjs', spins]);
    const { threads = [] } = await onlyAccountOf(run);
    const busy = threads.find(({ kind, frames }) => kind === 'worker' && frames.length > 0);
    assert.equal(busy?.frames[0]?.function, 'dies');
  });
