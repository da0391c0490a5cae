/** Which code is named as filling a heap, from sampled allocations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAllocators } from '../../src/analysis/allocations.ts';

test('a function without a name stands at its file, below the working directory', () => {
  const stack = ['(anonymous) (file:///srv/app/src/cache.mjs:3:22)', 'runNextTicks (node:internal/x:58:22)'];
  const profile = { sampledBytes: 100, rows: [{ bytes: 90, stack }] };
  const places = (cwd?: string) => findAllocators(profile, cwd).map(({ place }) => place);
  assert.deepEqual(places('/srv/app'), ['(anonymous) (src/cache.mjs:3:22)']);
  assert.deepEqual(places(), ['(anonymous) (/srv/app/src/cache.mjs:3:22)']);
});

test('code at the top level of a module is called so', () => {
  const rows = [{ bytes: 90, stack: ['(anonymous) (file:///srv/app/agent.mjs:1:1)'] }];
  const [allocator] = findAllocators({ sampledBytes: 100, rows }, '/srv/app');
  assert.equal(allocator?.place, 'the top-level code of agent.mjs');
});
