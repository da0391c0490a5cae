/** Test suites of real runners that leak in a given way, run under `agentdump ci --leak-check`. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { canRun, type MatrixRun, runUnderCi, suitesFolder } from './runner-matrix.ts';

const commands = {
  'node:test': ['node', '--test', 'leak/node-test.cjs'],
  mocha: ['node_modules/.bin/mocha', '--reporter=dot', 'leak/mocha.cjs'],
  jest: ['node_modules/.bin/jest', '--testMatch=**/leak/jest.cjs', '--config={}', '--ci'],
  vitest: ['node_modules/.bin/vitest', 'run', '--config', 'leak/vitest.config.mjs', '--pool', 'forks'],
  ava: ['node_modules/.bin/ava', '--timeout=5m', 'leak/ava.mjs'],
} as const;
/** Both functions of the module close over the array; which of them is on the path depends on the order of the heap. */
const holders = {
  array: /requestLog|(?:handle|makeSession)\{context\}/,
  map: /sessions/,
  listeners: /bus\._events\.change/,
};

/** One runner and one kind of leak; the holder must be named. */
export function testLeak(runner: keyof typeof commands, leak: keyof typeof holders): void {
  test(`${runner}: ${leak}`, { skip: canRun() }, async (context) => {
    const { code, summary, output, report } = await runLeaky(context, runner, leak);
    const told = `${JSON.stringify(summary?.leaks, undefined, 1)}\n${output}`;
    assert.equal(code, 1, told);
    assert.equal(summary?.outcome.kind, 'leak', told);
    const snapshots = summary?.bundles.filter(({ kind }) => kind === 'snapshot');
    assert.deepEqual(snapshots, [], 'the heaps are the leak’s, and no problems of their own');
    const [found] = summary?.leaks ?? [];
    assert.match(found?.suspects[0]?.path ?? '', holders[leak], told);
    for (const name of found?.heaps ?? ['none']) assert.ok(existsSync(join(report, 'bundles', name)), told);
  });
}

/** A suite that may hold something for a while but keeps nothing: no output at all. */
export function testHealthy(
  runner: keyof typeof commands,
  held: 'nothing' | 'held for a moment' | 'a full cache',
): void {
  test(`${runner}: ${held}`, { skip: canRun() }, async (context) => {
    const { code, report, output } = await runLeaky(context, runner, held);
    assert.equal(code, 0, output);
    assert.equal(existsSync(report), false, 'a green run leaves nothing');
    assert.doesNotMatch(output, /agentdump: |Debugger/);
  });
}

export function runLeaky(
  context: { after(cleanUp: () => void): void },
  runner: keyof typeof commands,
  leak: keyof typeof holders | 'nothing' | 'held for a moment' | 'a full cache',
): Promise<MatrixRun> {
  return runUnderCi({
    folder: suitesFolder(context),
    death: 'none',
    command: commands[runner],
    options: ['--leak-check=10%,4M'],
    env: { AGENTDUMP_TEST_LEAK: leak, NODE_OPTIONS: '' },
  });
}
