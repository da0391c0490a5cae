/** The watchdog's thread gives back what Node needed to start it, and goes on. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { findNodes } from '../../support/victims/run-victim.ts';

const source = join(
  fileURLToPath(import.meta.url),
  '../../../../src/capture/watchdog/memory/compact-heap.ts',
);

/** Answers once its heap is smaller and its session is closed. */
const thread = `
const { parentPort } = require('node:worker_threads');
const heapBytes = () => require('node:v8').getHeapStatistics().used_heap_size;
const before = heapBytes();
compactHeap();
const look = () => {
  const now = heapBytes();
  if (now > 0.95 * before) return setTimeout(look, 10);
  // What the callback has queued comes first.
  setTimeout(() => parentPort.postMessage({ before, now }), 10);
};
look();
`;

const { outputFiles } = await build({
  entryPoints: [source],
  bundle: true,
  write: false,
  platform: 'node',
  format: 'cjs',
});
const program = `
const source = ${JSON.stringify(`${outputFiles[0]?.text}\n${thread}`)};
const worker = new (require('node:worker_threads').Worker)(source, { eval: true, execArgv: [] });
worker.on('message', (sizes) => console.log(JSON.stringify(sizes)));
`;

for (const { name, path } of findNodes())
  test(`a thread's heap is smaller afterwards, and the thread answers (${name})`, () => {
    const answer = execFileSync(path, ['-e', program], { encoding: 'utf8', timeout: 60_000 });
    const { before, now } = JSON.parse(answer);
    assert.ok(now < before, `${before} bytes, then ${now}`);
  });
