import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startOwnInterval, startOwnTimer } from '../../../src/agent/taps/own-timer.ts';

/** The only test of this file, because the memory that the timers wait on is made once in a process. */
test('a program that takes SharedArrayBuffer away hears nothing of our timers', async (t) => {
  const { SharedArrayBuffer: memory } = globalThis;
  t.after(() => Object.assign(globalThis, { SharedArrayBuffer: memory }));
  const heard: unknown[] = [];
  const hear = (reason: unknown) => heard.push(reason);
  process.on('unhandledRejection', hear);
  t.after(() => process.off('unhandledRejection', hear));
  Object.assign(globalThis, { SharedArrayBuffer: undefined });
  startOwnTimer(() => heard.push('called'), 1);
  startOwnInterval(() => heard.push('called'), 1);
  await delay(20);
  assert.deepEqual(heard, []);
});
