/** Chains in two snapshots of one process: what several things hold is told once, at its true size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeDigest, computeGrowth } from '../../../../src/analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../../../src/analysis/memory/growth/growth-suspects.ts';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import type { HeapSuspect } from '../../../../src/model/heap.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const linkBytes = 2048;

/** Links that each refer to the one before; returns the newest. */
function chain(snapshot: SynthSnapshot, count: number): number {
  let newest = -1;
  for (let at = 0; at < count; at++) {
    const link = snapshot.node({ name: 'Link', size: linkBytes });
    if (newest >= 0) snapshot.edge(link, newest, 'parent');
    newest = link;
  }
  return newest;
}

function suspectsOf(make: (links: number) => SynthSnapshot): HeapSuspect[] {
  const [first, last] = [100, 200].map((links) => new Heap(readHeapSnapshotSync(make(links).toBuffer()))) as [
    Heap,
    Heap,
  ];
  return growthSuspects(computeGrowth([computeDigest(first), computeDigest(last)], last, 10), 10);
}

test('a chain whose newest link is its head, held by a variable and by a timer', () => {
  const suspects = suspectsOf((links) => {
    const { snapshot, global } = synthProgram();
    const timer = snapshot.node({ name: 'Timeout', size: 64 });
    const others = snapshot.node({ name: 'Timers', size: 64 });
    snapshot.edge(global, others, 'timers').edge(others, timer, 'first');
    const newest = chain(snapshot, links);
    return snapshot.edge(global, newest, 'current').edge(timer, newest, 'store');
  });
  assert.deepEqual(
    suspects.map(({ path }) => path),
    ['global.current'],
  );
  assert.match(suspects[0]!.sentence, /from 200 KiB to 400 KiB: 100 new objects of class Link \(200 KiB\)/);
});

test('a chain that only a function of the global object leads to, and both are made anew at each change', () => {
  const suspects = suspectsOf((links) => {
    const { snapshot, global } = synthProgram();
    const id = 100_000 + links;
    const resume = snapshot.node({ type: 'closure', name: 'resume', size: 64, id });
    const scope = snapshot.node({ type: 'object', name: 'system / Context', size: 64, id: id + 2 });
    const newest = chain(snapshot, links);
    snapshot.edge(global, resume, 'resume').edge(resume, scope, 'context', 'internal');
    return snapshot.edge(scope, newest, 'store', 'context');
  });
  assert.deepEqual(
    suspects.map(({ path }) => path),
    ['global.resume{context}.store'],
  );
  assert.match(suspects[0]!.sentence, /from 200 KiB to 400 KiB: 100 new objects of class Link \(200 KiB\)/);
});

test('containers that are nested through a new one hold the same: its size is told once', () => {
  const suspects = suspectsOf((links) => {
    const { snapshot, global } = synthProgram();
    const pool = snapshot.node({ name: 'Pool', size: 64 });
    const slot = snapshot.node({ name: 'Slot', size: 64 });
    const newest = chain(snapshot, links);
    // Made anew at each change.
    const wrapper = snapshot.node({ name: 'Wrapper', size: 64, id: 100_000 + links });
    snapshot.edge(global, pool, 'pool').edge(pool, wrapper, 'state');
    return snapshot.edge(wrapper, slot, 'slot').edge(slot, newest, 'list');
  });
  assert.equal(suspects.length, 1, suspects.map(({ sentence }) => sentence).join('\n'));
  assert.match(suspects[0]!.title, /^\+200 KiB at global\.pool\.state\.slot/);
});

test('one new object that two things hold is no chain', () => {
  const suspects = suspectsOf((links) => {
    const { snapshot, global } = synthProgram();
    const timer = snapshot.node({ name: 'Timeout', size: 64 });
    const loaded = snapshot.node({ name: 'Loaded', size: links * linkBytes, id: 100_000 + links });
    return snapshot.edge(global, timer, 'timer').edge(global, loaded, 'loaded').edge(timer, loaded, 'loaded');
  });
  assert.deepEqual(suspects, []);
});
