/** When a main thread is asked or inspected because the process grows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SilentGrowth } from '../../../src/capture/watchdog/memory/silent-growth.ts';

const mb = 2 ** 20;
const limits = { limitBytes: 100 * mb, fromShare: 0.35, stepShare: 0.05 };
const told = { answers: 1, heapBytes: 10 * mb, toldRss: 60 * mb };

test('one that grows and gives no sign is asked, then looked at', () => {
  const growth = new SilentGrowth(limits);
  assert.equal(growth.see({ ...told, atMs: 0, rss: 60 * mb }), 'nothing');
  assert.equal(growth.see({ ...told, atMs: 40, rss: 80 * mb }), 'nothing', 'below the share of interest');
  assert.equal(growth.see({ ...told, atMs: 80, rss: 90 * mb }), 'ask');
  assert.equal(growth.see({ ...told, atMs: 120, rss: 95 * mb }), 'nothing', 'it may still answer');
  assert.equal(growth.see({ ...told, atMs: 160, rss: 99 * mb }), 'look');
});

test('what grew between its answer and the first look at it counts', () => {
  const growth = new SilentGrowth(limits);
  assert.equal(growth.see({ ...told, atMs: 0, rss: 130 * mb }), 'ask');
  assert.equal(growth.see({ ...told, atMs: 100, rss: 130 * mb }), 'look');
});

test('one that answers has told its heap: growth begins anew', () => {
  const growth = new SilentGrowth(limits);
  growth.see({ ...told, atMs: 0, rss: 130 * mb });
  const answered = { answers: 2, heapBytes: 80 * mb, toldRss: 130 * mb };
  assert.equal(growth.see({ ...answered, atMs: 40, rss: 130 * mb }), 'nothing');
  assert.equal(growth.see({ ...answered, atMs: 80, rss: 134 * mb }), 'nothing', 'less than a step');
  assert.equal(growth.see({ ...answered, atMs: 120, rss: 136 * mb }), 'ask');
});

test('before it has told anything, growth is counted from the first look', () => {
  const growth = new SilentGrowth(limits);
  assert.equal(growth.see({ atMs: 0, rss: 60 * mb, answers: 0, heapBytes: 0, toldRss: 0 }), 'nothing');
});

test('one that stays silent is looked at again, ever more seldom: its heap may grow where memory is resident already', () => {
  const growth = new SilentGrowth(limits);
  growth.see({ ...told, atMs: 0, rss: 130 * mb });
  assert.equal(growth.see({ ...told, atMs: 100, rss: 130 * mb }), 'look');
  growth.looked(130 * mb, 60 * mb);
  const looks: number[] = [];
  for (let atMs = 140; atMs < 60_000; atMs += 40)
    if (growth.see({ ...told, atMs, rss: 130 * mb }) === 'look') looks.push(atMs);
  assert.deepEqual(looks, [820, 2220, 5020, 10_620]);
  const answered = { answers: 2, heapBytes: 60 * mb, toldRss: 130 * mb };
  assert.equal(growth.see({ ...answered, atMs: 61_000, rss: 130 * mb }), 'nothing');
  assert.equal(growth.see({ ...answered, atMs: 90_000, rss: 130 * mb }), 'nothing', 'it is not silent');
});
