/**
 * A worker thread that spins while the main thread's loop turns: its own stack is in the bundle, and the verdict names it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Account } from '../../../src/model/account.ts';
import { majorsInTurn, nodeOf, onlyWide, testMajors } from '../../support/run/test-nodes.ts';
import { runUnderCi, suitesFolder } from '../../support/runners/runner-matrix.ts';
import { onlyAccountOf } from '../../support/victims/run-account.ts';

/** Only the old generation counts: tens of the used megabytes may still be in the young one when filling stops. */
const worker = `
import { appendFileSync } from 'node:fs'; import { getHeapSpaceStatistics } from 'node:v8';
const isOld = ({ space_name: name }) => /^(?:old|large_object)_space$/.test(name); const kept = [];
const isFull = (mb) => getHeapSpaceStatistics().filter(isOld).reduce((sum, one) => sum + one.space_used_size, 0) >= mb * 2 ** 20;
while (!isFull(Number(process.argv[2]))) kept.push(new Array(1000).fill(0.5));
function crunch(word) {
  for (let n = 0; ; n++) if (n < 0) return word;
}
appendFileSync(process.env.AGENTDUMP_TEST_READY, 'ready\\n');
crunch('telling' + kept.length * 0);
`;

/** The program starts a worker that spins and one whose timer ticks, while its own loop turns. */
function writeVictim(folder: string, fillMb: number): void {
  writeFileSync(join(folder, 'cruncher.mjs'), worker);
  const options = JSON.stringify({
    name: 'cruncher',
    argv: [fillMb],
    resourceLimits: { maxOldGenerationSizeMb: 100 },
  });
  writeFileSync(
    join(folder, 'main.mjs'),
    `import { Worker } from 'node:worker_threads';
     new Worker('setInterval(() => { for (let n = 0; n < 1e5; n++); }, 5)', { eval: true, name: 'ticker' });
     new Worker(new URL('cruncher.mjs', import.meta.url), ${options});
     setInterval(() => {}, 10);`,
  );
}

async function runVictim(context: TestContext, major: number, fillMb: number): Promise<Account> {
  const folder = suitesFolder(context);
  writeVictim(folder, fillMb);
  const run = await runUnderCi({
    folder,
    death: 'spin',
    command: ['node', 'main.mjs'],
    node: nodeOf(major),
    env: { NODE_OPTIONS: '' },
    hangAfter: '4s',
  });
  assert.equal(run.code, 124, run.output);
  const [told] = run.summary?.bundles ?? [];
  assert.equal(told?.kind, 'event-loop-hang', run.output);
  assert.match(told?.place?.file ?? '', /cruncher\.mjs$/);
  return onlyAccountOf(run);
}

const workersOf = ({ threads = [] }: Account) => threads.filter(({ kind }) => kind === 'worker');

for (const major of majorsInTurn(...testMajors))
  test(`Node ${major}: a plain program's worker`, { skip: onlyWide }, async (context) => {
    const account = await runVictim(context, major, 0);
    const [busy, ...others] = workersOf(account).filter(({ frames }) => frames.length > 0);
    assert.deepEqual(others, []);
    const [frame] = busy?.frames ?? [];
    assert.deepEqual([frame?.function, frame?.line], ['crunch', 7]);
    assert.deepEqual(frame?.locals?.[0], { name: 'word', scope: 'local', value: '"telling0"' });
    assert.deepEqual(
      workersOf(account)
        .filter(({ frames }) => frames.length === 0)
        .map(({ state }) => state),
      ['idle'],
    );
    assert.match(account.verdict?.summary ?? '', /worker thread was running code/);
    assert.match(JSON.stringify(account.verdict?.evidence), /Worker \d+ \(.*\) was in crunch \(/);
  });

for (const major of majorsInTurn(20, 26))
  test(`Node ${major}: no debugger in a worker whose heap is nearly full`, {
    skip: onlyWide,
  }, async (context) => {
    const account = await runVictim(context, major, 70);
    const [frame] = workersOf(account).find(({ frames }) => frames.length > 0)?.frames ?? [];
    assert.deepEqual([frame?.function, frame?.line, frame?.locals], ['crunch', 7, undefined]);
    const reasons = account.gaps
      .filter(({ part }) => part === 'worker-stacks.json')
      .map(({ reason }) => reason);
    assert.match(reasons.join('\n'), /worker \d+: V8’s heap is near its limit/);
  });

const noNamespace = spawnSync('unshare', ['-n', 'true']).status !== 0 && 'no right to a network namespace';

test('the inspector’s port is taken: the worker’s stack is read out of the memory', {
  skip: onlyWide || noNamespace,
}, async (context) => {
  const folder = suitesFolder(context);
  writeVictim(folder, 0);
  // In a network namespace of its own, so that no other test meets the port.
  writeFileSync(
    join(folder, 'held.mjs'),
    `import { spawn } from 'node:child_process'; import { createServer } from 'node:net';
     createServer().listen(9229, '127.0.0.1', () => spawn(process.execPath, ['main.mjs'], { stdio: 'inherit' }));`,
  );
  const run = await runUnderCi({
    folder,
    death: 'spin',
    command: ['unshare', '-n', 'node', 'held.mjs'],
    node: nodeOf(24),
    env: { NODE_OPTIONS: '' },
    hangAfter: '4s',
  });
  const told = run.summary?.bundles.find(({ kind }) => kind === 'event-loop-hang');
  const { gaps } = await onlyAccountOf(run);
  assert.deepEqual(
    [told?.place?.file.split('/').at(-1), told?.place?.line],
    ['cruncher.mjs', 7],
    JSON.stringify(gaps),
  );
});
