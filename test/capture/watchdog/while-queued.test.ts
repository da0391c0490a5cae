/** When a thread that does not answer is asked again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askWhileQueued } from '../../../src/capture/watchdog/while-queued.ts';

/** Each ask takes 1 s, of which the thread runs for so long; the rest of it, it is queued or waits. */
async function ask({ runs, waits, answersAt }: { runs: number; waits?: true; answersAt?: number }) {
  let asked = 0;
  const found = await askWhileQueued(async () => (++asked === answersAt ? 'stack' : undefined), 1000, {
    cpuMs: () => asked * runs,
    queuedMs: () => (waits ? 0 : asked * (1000 - runs)),
  });
  return { asked, ...found };
}

test('a thread without a processor is asked until it answers', async () =>
  assert.deepEqual(await ask({ runs: 10, answersAt: 3 }), { asked: 3, answer: 'stack', cpuMs: 30 }));

test('it is asked five times at most', async () =>
  assert.deepEqual(await ask({ runs: 10 }), { asked: 5, answer: undefined, cpuMs: 50 }));

test('one that ran enough to answer is in native code', async () =>
  assert.deepEqual(await ask({ runs: 110 }), { asked: 2, answer: undefined, cpuMs: 220 }));

test('one that waits is asked once', async () =>
  assert.equal((await ask({ runs: 0, waits: true })).asked, 1));
