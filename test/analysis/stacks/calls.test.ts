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

const workers: [name: string, program: string, lines: number[]][] = [
  [
    'imported',
    `import { Worker } from 'node:worker_threads';\nnew Worker(file);\nnew Workers();\nWorker(file);`,
    [2],
  ],
  [
    'by another name',
    `import { Worker as Thread } from 'worker_threads';\nnew Worker(file);\nnew Thread(file);`,
    [3],
  ],
  [
    'of the module',
    `import * as threads from 'node:worker_threads';\nnew threads.Worker(file);\nnew other.Worker(file);`,
    [2],
  ],
  ['required', `const { Worker, isMainThread } = require('worker_threads');\nnew Worker(file);`, [2]],
  [
    'of the required module',
    `const wt = require('worker_threads');\nconst { Worker: W } = wt;\nnew wt.Worker(file);\nnew W(file);`,
    [3, 4],
  ],
  [
    'in one expression',
    `const W = require('worker_threads').Worker;\nnew W(file);\nnew (require('node:worker_threads').Worker)(file);`,
    [2, 3],
  ],
  ['compiled', `var import_wt = __toESM(require("worker_threads"));\nnew import_wt.Worker(file);`, [2]],
  [
    'imported later',
    `async function f() {\nconst { Worker } = await import('node:worker_threads');\nnew Worker(file);\n}`,
    [3],
  ],
  [
    'of a queue',
    `import { Worker } from 'bullmq';\nimport { threadId } from 'node:worker_threads';\nnew Worker('queue', run);`,
    [],
  ],
  ['of the web', `new Worker(new URL('./worker.js', import.meta.url));`, []],
];

for (const [name, program, lines] of workers)
  test(`starts of worker threads: ${name}`, async () => {
    const found = await findCalls(program, 'module', 'new Worker');
    assert.deepEqual(
      found?.map(({ line }) => line),
      lines,
    );
  });
