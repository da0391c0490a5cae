/** Whether the samples before a death show a heap that is exhausted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryPoint } from '../../../src/bundle/layout/evidence.ts';
import { findFullHeap } from '../../../src/bundle/layout/full-heap.ts';

const mega = 1e6;
const points = (...used: [atMs: number, megabytes: number][]): MemoryPoint[] =>
  used.map(([atMs, megabytes]) => ({
    at: new Date(1e12 + atMs).toISOString(),
    heapUsed: megabytes * mega,
    heapLimit: 100 * mega,
  }));

test('a heap that stands at its limit is full', () => {
  assert.deepEqual(findFullHeap(points([0, 85], [8000, 85])), {
    used: 85 * mega,
    limit: 100 * mega,
    rate: 0,
  });
});

test('one that grows fast is taken to have gone on', () => {
  assert.equal(findFullHeap(points([0, 50], [1000, 60])), undefined);
  assert.equal(findFullHeap(points([0, 40], [1000, 61]))?.rate, 21 * mega);
});

test('growth of long ago says nothing', () => {
  assert.equal(findFullHeap(points([0, 10], [20_000, 60], [21_000, 60])), undefined);
});

test('less than half is never full, and without a limit nothing is known', () => {
  assert.equal(findFullHeap(points([0, 10], [100, 49])), undefined);
  assert.equal(findFullHeap([{ at: '2026-01-01T00:00:00.000Z', heapUsed: 1e12 }]), undefined);
  assert.equal(findFullHeap([]), undefined);
});
