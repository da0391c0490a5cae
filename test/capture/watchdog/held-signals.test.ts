/**
 * The thread that holds signals: a signal that was caught before the release but not yet delivered is reported and not lost.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';

const source = join(fileURLToPath(import.meta.url), '../../../../src/capture/watchdog/held-signals.ts');

/** Holds SIGHUP, and releases it in a turn in which a signal arrived, or did not. */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
const heard = [];
const held = new HeldSignals((signal) => heard.push(signal));
held.hold('SIGHUP');
held.hold('SIGUSR2');
parentPort.once('message', async () => {
  const cell = new Int32Array(workerData);
  Atomics.store(cell, 0, 1);
  Atomics.notify(cell, 0);
  Atomics.wait(cell, 0, 1);
  parentPort.postMessage({ unheard: await held.releaseProven(), heard });
});
`;

async function release(signal: 'SIGHUP' | undefined): Promise<{ unheard: string[]; heard: string[] }> {
  const bundle = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
  });
  const text = `${bundle.outputFiles[0]?.text}\n${program}`;
  const shared = new SharedArrayBuffer(4);
  const cell = new Int32Array(shared);
  const worker = new Worker(text, {
    eval: true,
    workerData: shared,
    execArgv: ['--expose-internals', '--no-warnings'],
  });
  // Its message is delivered once the signals are held.
  worker.postMessage('let go');
  while (Atomics.load(cell, 0) !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
  if (signal !== undefined) process.kill(process.pid, signal);
  Atomics.store(cell, 0, 2);
  Atomics.notify(cell, 0);
  const [told] = await once(worker, 'message');
  await worker.terminate();
  return told;
}

test('what libuv had caught and not told is known when the closing is over', async () => {
  assert.deepEqual(await release('SIGHUP'), { unheard: ['SIGHUP'], heard: [] });
});

test('where nothing was caught there is nothing', async () => {
  assert.deepEqual(await release(undefined), { unheard: [], heard: [] });
});
