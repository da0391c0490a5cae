/** Which code is named as filling a heap, from sampled allocations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAllocators } from '../../src/analysis/allocations.ts';
import { heapOutOfMemory } from '../../src/analysis/verdict/causes/heap-out-of-memory.ts';
import type { VerdictFacts } from '../../src/analysis/verdict/facts.ts';

test('a function without a name stands at its file, below the working directory', () => {
  const stack = ['(anonymous) (file:///srv/app/src/cache.mjs:3:22)', 'runNextTicks (node:internal/x:58:22)'];
  const profile = { sampledBytes: 100, rows: [{ bytes: 90, stack }] };
  const places = (cwd?: string) => findAllocators(profile, cwd).map(({ place }) => place);
  assert.deepEqual(places('/srv/app'), ['src/cache.mjs:3:22']);
  assert.deepEqual(places(), ['/srv/app/src/cache.mjs:3:22']);
});

test('code at the top level of a module is called so', () => {
  const rows = [{ bytes: 90, stack: ['(anonymous) (file:///srv/app/agent.mjs:1:1)'] }];
  const [allocator] = findAllocators({ sampledBytes: 100, rows }, '/srv/app');
  assert.equal(allocator?.place, 'the top-level code of agent.mjs');
});

const deep =
  '/srv/releases/2026-11-29T04-12-33.481Z/services/back-office/dist/server/routes/orders/export.mjs';

function titleWith(frame: string): string {
  const facts = {
    account: { gaps: [] },
    trigger: { verdictKind: 'heap-out-of-memory' },
    heapProfile: { sampledBytes: 100, rows: [{ bytes: 90, stack: [frame] }] },
  } as unknown as VerdictFacts;
  return heapOutOfMemory.consider(facts)?.title ?? '';
}

test('a title keeps the file and the line, whatever the length of its path', () => {
  for (const name of ['fillRows', '(anonymous)']) {
    const title = titleWith(`${name} (file://${deep}:1204:17)`);
    assert.match(title, /export\.mjs:1204:17$/, title);
    assert.ok(title.length <= 100, title);
    assert.doesNotMatch(title, /anonymous/);
  }
  assert.match(titleWith('fillRows (file:///a.mjs:3:5)'), /, filled by fillRows at \/a\.mjs:3:5$/);
});
