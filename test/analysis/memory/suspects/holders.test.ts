/** What holds many objects if no size points to it: two owners, a chain, an array that was created at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeDigest, computeGrowth } from '../../../../src/analysis/memory/growth/growth.ts';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const heapOf = (synth: SynthSnapshot): Heap => new Heap(readHeapSnapshotSync(synth.toBuffer()));

/** Jobs that are both in a list and in a chain of timers. */
function withJobs(count: number): Heap {
  const { snapshot, global } = synthProgram();
  const jobs = snapshot.node({ name: 'Array', size: 64, id: 5001 });
  const timers = snapshot.node({ name: 'TimersList', size: 64, id: 5003 });
  snapshot.edge(global, jobs, 'jobs').edge(global, timers, 'timers');
  let last = timers;
  for (let at = 0; at < count; at++) {
    const job = snapshot.node({ name: 'Job', size: 2000, id: 10_001 + 4 * at });
    const timer = snapshot.node({ name: 'Timeout', size: 100, id: 10_003 + 4 * at });
    snapshot.edge(jobs, job, at).edge(last, timer, '_idleNext').edge(timer, job, 'job');
    last = timer;
  }
  return heapOf(snapshot);
}

test('objects with two owners are told of the list that they were put into, by growth and by one look', () => {
  const [first, last] = [withJobs(100), withJobs(2000)];
  const growth = computeGrowth([computeDigest(first), computeDigest(last)], last, 10);
  const [row] = growth.grown;
  assert.equal(growth.matchedBy, 'id');
  assert.equal(row?.path, 'global.jobs');
  assert.deepEqual([row?.added?.class, row?.added?.count], ['Job', 1900]);
  const [suspect] = computeSuspects(last);
  assert.match(suspect?.title ?? '', /^2,000 Job objects hold .*: global\.jobs$/);
});

test('objects that came as others went are no growth', () => {
  const generation = (from: number): Heap => {
    const { snapshot, global } = synthProgram();
    const [a, b] = [snapshot.node({ name: 'Array', id: 5001 }), snapshot.node({ name: 'Array', id: 5003 })];
    snapshot.edge(global, a, 'a').edge(global, b, 'b');
    for (let at = 0; at < 300; at++) {
      const job = snapshot.node({ name: 'Job', size: 2000, id: from + 2 * at });
      snapshot.edge(a, job, at).edge(b, job, at);
    }
    return heapOf(snapshot);
  };
  const [first, last] = [generation(10_001), generation(20_001)];
  const { grown } = computeGrowth([computeDigest(first), computeDigest(last)], last, 10);
  assert.deepEqual(
    grown.filter(({ added }) => added?.class === 'Job'),
    [],
  );
});

test('an array with room for what it holds is a table: not told, and not in the way of what leaks beside it', () => {
  const titles = (tableRoom: number, options = {}): string[] => {
    const { snapshot, global } = synthProgram();
    const fill = (name: string, count: number, room: number, size: number): void => {
      const array = snapshot.node({ name: 'Array', size: 32 });
      const elements = snapshot.node({ type: 'array', name: '(object elements)', size: 16 + 8 * room });
      snapshot.edge(global, array, name).edge(array, elements, 'elements', 'internal');
      for (let at = 0; at < count; at++) snapshot.edge(array, snapshot.node({ size }), at);
    };
    fill('countries', 20_000, tableRoom, 2000);
    fill('history', 1500, 2200, 2000);
    return computeSuspects(heapOf(snapshot), options).map(({ title }) => title.replace(/^.*: /, ''));
  };
  assert.deepEqual(titles(20_000), ['global.history']);
  assert.deepEqual(titles(30_000), ['global.countries', 'global.history']);
  assert.deepEqual(titles(20_000, { withTables: true }), ['global.history', 'global.countries']);
});

test('objects that many lists have together are told at such a list, not at what has the lists', () => {
  const suspectOf = (lists: number): string => {
    const { snapshot, global } = synthProgram();
    const tenants = snapshot.node({ name: 'Array', size: 64 });
    snapshot.edge(global, tenants, 'tenants');
    for (let at = 0; at < lists; at++) {
      const tenant = snapshot.node({ name: 'Tenant', size: 64 });
      const samples = snapshot.node({ name: 'Array', size: 32 });
      snapshot.edge(tenants, tenant, at).edge(tenant, samples, 'samples');
      for (let row = 0; row < 3000 / lists; row++)
        snapshot.edge(samples, snapshot.node({ name: 'Sample', size: 2000 }), row);
    }
    const [found] = computeSuspects(heapOf(snapshot));
    return `${found?.path} | ${found?.sentence}`;
  };
  assert.match(
    suspectOf(60),
    /^global\.tenants\[\d+\]\.samples \| .* \(60 containers, such as Array @\d+ at global\.tenants\[\d+\]\.samples\) has no limit/,
  );
  assert.match(suspectOf(1500), /^global\.tenants \|/);
});
