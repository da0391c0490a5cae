/**
 * A main thread that waits for a processor is distinguished from one that has had its time, sleeps, is stopped or is gone.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { processorMs, waitsForProcessor } from '../../../src/ci/watch/main-thread.ts';

const longMs = 1e9;

async function start(context: TestContext, script: string): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', `console.log("up"); ${script}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child as ChildProcess & { pid: number };
}

test('one that spins waits for a processor until it has used its time', async (context) => {
  const { pid } = await start(context, 'for (;;);');
  // Not from the first moment: at startup Node may still wait for one of its own threads.
  while (!waitsForProcessor(pid, 0, longMs)) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok((processorMs(pid) ?? 0) >= 10);
  assert.equal(waitsForProcessor(pid, 0, 10), false);
});

test('one that stands still, and one that is gone, wait for none', async (context) => {
  const child = await start(context, 'for (;;);');
  child.kill('SIGSTOP');
  while (waitsForProcessor(child.pid, 0, longMs)) await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(processorMs(child.pid), undefined);
  assert.equal(waitsForProcessor(child.pid, 0, longMs), false);
});
