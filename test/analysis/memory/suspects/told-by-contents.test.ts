/** One snapshot: what is in a container decides whether it is told, and before which others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import { type SynthSnapshot, synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

const pathsOf = (synth: SynthSnapshot): string[] =>
  computeSuspects(new Heap(readHeapSnapshotSync(synth.toBuffer()))).map(({ path }) => path ?? '');

test('rows of a few short fields come after a smaller container with more in its entries', () => {
  const { snapshot, global } = synthProgram();
  const prototype = snapshot.node({ name: 'Object' });
  snapshot.edge(global, prototype, 'prototype');
  const fill = (name: string, entries: number, bytes: number, fieldName: string): void => {
    const holder = snapshot.node({ name: 'Object', size: 64 });
    snapshot.edge(global, holder, name);
    for (let at = 0; at < entries; at++) {
      const row = snapshot.node({ name: 'Object', size: 40 });
      const field = snapshot.node({ type: 'string', name: `${name} ${at}`, size: bytes });
      snapshot.edge(holder, row, `${at}`).edge(row, field, fieldName).edge(row, prototype, '__proto__');
    }
  };
  fill('places', 60_000, 200, 'place');
  fill('requests', 3000, 2500, 'body');
  const paths = pathsOf(snapshot);
  assert.equal(paths[0], 'global.requests');
  assert.ok(paths.includes('global.places'), paths.join());
});

test('a cache that a program calls _cache is told, unless it holds modules', () => {
  const told = (className: string): boolean => {
    const { snapshot, global } = synthProgram();
    const cache = snapshot.node({ name: 'Object', size: 64 });
    snapshot.edge(global, cache, '_cache');
    for (let at = 0; at < 2000; at++)
      snapshot.edge(cache, snapshot.node({ name: className, size: 4000 }), `key ${at}`);
    return pathsOf(snapshot).some((path) => path.includes('._cache'));
  };
  assert.equal(told('Reply'), true);
  assert.equal(told('Module'), false);
});

test('texts that are there in tens, such as labels in each language, are no suspect; in hundreds they are', () => {
  const told = (copies: number): boolean => {
    const { snapshot, global } = synthProgram();
    for (let at = 0; at < copies; at++) {
      const language = snapshot.node({ name: `Labels${at}`, size: 64 });
      snapshot.edge(global, language, `language${at}`);
      for (let label = 0; label < 4000 / copies; label++) {
        const text = snapshot.node({ type: 'string', name: `label ${label}`, size: 3000 });
        snapshot.edge(language, text, `label${label}`);
      }
    }
    const heap = new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
    return computeSuspects(heap).some(({ rule }) => rule === 'duplicate-strings');
  };
  assert.equal(told(20), false);
  assert.equal(told(200), true);
});

test('the nodes of one syntax tree are no crowd, though its statements are many', () => {
  const told = (statements: number): boolean => {
    const { snapshot, global } = synthProgram();
    const tree = snapshot.node({ name: 'Node', size: 64 });
    const body = snapshot.node({ name: 'Array', size: 64 });
    snapshot.edge(global, tree, 'ast').edge(tree, body, 'body');
    for (let at = 0; at < statements; at++) {
      let above = snapshot.node({ name: 'Node', size: 64 });
      snapshot.edge(body, above, at);
      for (let depth = 0; depth < 40; depth++) {
        const list = snapshot.node({ name: 'Array', size: 16 });
        const below = snapshot.node({ name: 'Node', size: 300 });
        snapshot.edge(above, list, 'body').edge(list, below, 0);
        if (depth % 12 === 0) above = below;
      }
    }
    const heap = new Heap(readHeapSnapshotSync(snapshot.toBuffer()));
    return computeSuspects(heap).some(({ rule }) => rule === 'large-class');
  };
  assert.equal(told(300), false);
});
