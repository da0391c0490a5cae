import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Interruption } from '../../../src/capture/watchdog/interruption.ts';

test('in an interrupted thread a change is awaited without a wait of V8', async (t) => {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const interruption = new Interruption(cells);
  const { mock } = t.mock.method(Atomics, 'wait');
  const work = 'const { workerData } = require("node:worker_threads"); Atomics.store(workerData, 1, 5);';
  const worker = new Worker(work, { eval: true, workerData: cells });
  interruption.during(() => {
    assert.equal(interruption.awaitChange(0, 0, 20), false);
    assert.equal(interruption.awaitChange(0, 1, 20), true);
    assert.equal(interruption.awaitChange(1, 0, 30_000), true);
  });
  await worker.terminate();
  assert.equal(mock.callCount(), 0);
  assert.throws(() => interruption.during(() => assert.fail('thrown')), /thrown/);
  assert.equal(interruption.awaitChange(0, 0, 5), false);
  assert.equal(interruption.awaitChange(0, 1, 5), true);
  assert.equal(mock.callCount(), 2);
});
