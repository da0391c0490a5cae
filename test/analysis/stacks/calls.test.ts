import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCalls } from '../../../src/analysis/stacks/calls.ts';

test('calls of AbortSignal.timeout are found in modules and in CommonJS', async () => {
  const text = [
    'const limit = AbortSignal.timeout(50);',
    'function ask() { return fetch("/", { signal: AbortSignal.any([stop, AbortSignal.timeout(1e3)]) }); }',
    '// AbortSignal.timeout(1)',
    'const word = "AbortSignal.timeout(2)", other = AbortSignal.timeout, third = own.timeout(3);',
  ].join('\n');
  for (const kind of ['module', 'commonjs'] as const)
    assert.deepEqual(await findCalls(text, kind, 'AbortSignal.timeout'), [
      { line: 1, column: 15 },
      { line: 2, column: 69 },
    ]);
  assert.deepEqual(await findCalls('return AbortSignal.timeout(1);', 'commonjs', 'AbortSignal.timeout'), [
    { line: 1, column: 8 },
  ]);
  assert.equal(await findCalls('return AbortSignal.timeout(1);', 'module', 'AbortSignal.timeout'), undefined);
  assert.equal(await findCalls('AbortSignal.timeout(', 'commonjs', 'AbortSignal.timeout'), undefined);
});

test('starts of worker threads are found, by the name of the class alone', async () => {
  const text = 'new Worker(file);\nnew threads.Worker(file);\nnew Workers();\nWorker(file); // new Worker()';
  assert.deepEqual(await findCalls(text, 'commonjs', 'new Worker'), [
    { line: 1, column: 1 },
    { line: 2, column: 1 },
  ]);
});
