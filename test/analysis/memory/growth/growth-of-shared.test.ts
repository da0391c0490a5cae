/** Objects that two things hold, in three snapshots of one process: named at one of them, at the size that was added. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeDigest, computeGrowth } from '../../../../src/analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../../../src/analysis/memory/growth/growth-suspects.ts';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import type { HeapSuspect } from '../../../../src/model/heap.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const itemBytes = 2048;

function suspectsOf(make: (items: number) => SynthSnapshot): HeapSuspect[] {
  const heaps = [100, 200, 300].map((items) => new Heap(readHeapSnapshotSync(make(items).toBuffer())));
  return growthSuspects(
    computeGrowth(
      heaps.map((heap) => computeDigest(heap)),
      heaps.at(-1)!,
      10,
    ),
    10,
  );
}

/** A store whose list and index both have all of its items. `beside` grows by itself. */
function store(items: number, beside: (items: number) => number): SynthSnapshot {
  const { snapshot, global } = synthProgram();
  const owner = snapshot.node({ name: 'Store', size: 64 });
  const list = snapshot.node({ name: 'Array', size: 16 });
  const index = snapshot.node({ name: 'Index', size: 16 });
  const page = snapshot.node({ name: 'Page', size: beside(items) });
  snapshot
    .edge(global, owner, 'store')
    .edge(owner, list, 'list')
    .edge(owner, index, 'index')
    .edge(owner, page, 'page');
  for (let at = 0; at < items; at++) {
    const item = snapshot.node({ name: 'Item', size: itemBytes });
    snapshot.edge(list, item, at).edge(index, item, `item${at}`);
  }
  return snapshot;
}

test('a list that shares its items with an index held them in the earlier snapshots too', () => {
  const suspects = suspectsOf((items) => store(items, () => 64));
  assert.equal(suspects.length, 1, suspects.map(({ sentence }) => sentence).join('\n'));
  const [{ path, sentence, confidence, evidence } = assert.fail()] = suspects;
  assert.match(path ?? '', /^global\.store\.(list|index)$/);
  assert.match(
    sentence,
    /grew from 200 KiB to 600 KiB, 200 KiB a step: 200 new objects of class Item \(400 KiB\)/,
  );
  assert.equal(confidence, 'likely');
  assert.equal(evidence[0], 'held in each snapshot: 200 KiB, 400 KiB, 600 KiB');
});

test('what else their owner has, and grows by itself, is not told at the list', () => {
  const suspects = suspectsOf((items) => store(items, (by) => by * itemBytes * 1.5));
  assert.deepEqual(
    suspects.map(({ title }) => title.replace(/store\.(list|index)$/, 'store')),
    ['+400 KiB at global.store', '+600 KiB at global.store.page'],
  );
});

/** Ports of which a list has one and the roots the other of each pair. */
function ports(pairs: number, isListed: boolean): SynthSnapshot {
  const { snapshot, global, root } = synthProgram();
  const handles = snapshot.node({ type: 'synthetic', name: '(Global handles)', size: 0 });
  const list = snapshot.node({ name: 'Array', size: 16 });
  snapshot.edge(root, handles, 2).edge(global, list, 'ports');
  for (let at = 0; at < pairs; at++) {
    const mine = snapshot.node({ name: 'Port', size: itemBytes });
    const theirs = snapshot.node({ name: 'Port', size: itemBytes * 2 });
    snapshot.edge(handles, theirs, at);
    if (isListed) snapshot.edge(list, mine, at);
    else snapshot.edge(theirs, mine, 'pair');
  }
  return snapshot;
}

test('of pairs that a list and the roots hold, the list is named', () => {
  assert.deepEqual(
    suspectsOf((pairs) => ports(pairs, true)).map(({ path }) => path),
    ['global.ports'],
  );
});

test('what nothing but the roots holds is named as a class', () => {
  const [first] = suspectsOf((pairs) => ports(pairs, false));
  assert.match(first?.sentence ?? '', /^200 objects at .*: 200 new objects of class Port /);
});

for (const way of ['property', 'WeakMap'])
  test(`what grows a little in each of many entries, by ${way}, is told there, not at the list that has as many as before`, () => {
    const [suspect, ...others] = suspectsOf((items) => {
      const { snapshot, global } = synthProgram();
      const users = snapshot.node({ name: 'Array', size: 16 });
      const table = snapshot.node({ type: 'array', name: 'system / EphemeronHashTable', id: 40_001 });
      snapshot.edge(global, users, 'users').edge(global, table, 'table');
      for (let at = 0; at < 50; at++) {
        const id = 50_001 + 4 * at;
        const user = snapshot.node({ name: 'User', size: 64, id });
        const visits = snapshot.node({ name: 'Array', size: 16, id: id + 2 });
        const pair = `${at} / part of key (User @${id}) -> value (Array @${id + 2}) pair in WeakMap (table @40001)`;
        snapshot.edge(users, user, at);
        if (way === 'property') snapshot.edge(user, visits, 'visits');
        else snapshot.edge(user, visits, pair, 'internal').edge(table, visits, pair, 'internal');
        for (let visit = 0; visit < items / 50; visit++) {
          const added = snapshot.node({ name: 'Visit', size: itemBytes, id: 90_001 + 100 * at + 2 * visit });
          snapshot.edge(visits, added, visit);
        }
      }
      return snapshot;
    });
    assert.deepEqual(others, []);
    assert.match(suspect?.path ?? '', /^global\.(?:users\[\*\]\.visits|table\{WeakMap value of User\})$/);
    assert.match(
      suspect?.sentence ?? '',
      /^50 objects at .* grew from 201 KiB to 601 KiB, 200 KiB a step: 200 new objects of class Visit \(400 KiB\)/,
    );
  });

test('a text to which something is always added is told by its name', () => {
  const [suspect, ...others] = suspectsOf((items) => {
    const { snapshot, global } = synthProgram();
    const state = snapshot.node({ name: 'State', size: 64, id: 50_001 });
    const log = snapshot.node({ type: 'concatenated string', size: items * itemBytes, id: 90_001 + items });
    snapshot.edge(global, state, 'state').edge(state, log, 'log');
    return snapshot;
  });
  assert.deepEqual(others, []);
  assert.equal(suspect?.path, 'global.state.log');
  assert.match(suspect?.sentence ?? '', /^The text at global\.state\.log grew from 200 KiB to 600 KiB/);
});
