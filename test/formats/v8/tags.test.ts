/** The cost of naming the arrays of a constant pool in a hostile core, whose arrays all contain each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EdgeList } from '../../../src/formats/v8/graph/edges/edge-list.ts';
import { Names } from '../../../src/formats/v8/graph/names.ts';
import { Edge, type ObjectKinds } from '../../../src/formats/v8/graph/object-kinds.ts';
import type { HeapObjects } from '../../../src/formats/v8/graph/objects/heap-objects.ts';
import type { SlotSet } from '../../../src/formats/v8/graph/objects/slot-set.ts';
import { Tagger } from '../../../src/formats/v8/graph/tags.ts';
import type { V8Layout } from '../../../src/formats/v8/heap/object-layout.ts';

const [bytecode, array] = [1, 2];
const arrays = 200;
const header = 2;

test('an array that many others contain is walked once for each level', () => {
  let looked = 0;
  const objects = {
    typeOf: (object: number) => (object < arrays ? array : bytecode),
    sizeOf: () => arrays + header,
    target: (_: number, word: number) => {
      looked++;
      return word - header;
    },
  } as unknown as HeapObjects;
  const kinds = {
    typeName: (type: number) => (type === array ? 'FIXED_ARRAY' : 'BYTECODE_ARRAY'),
    of: () => ({ nodeType: 'array' }),
  } as unknown as ObjectKinds;
  const live = { has: () => true, numberOf: (object: number) => object } as unknown as SlotSet;
  const names = new Names();
  const indexes = { literals: 2, inliningPositions: 7 } as V8Layout['deoptimization'];
  const tagger = new Tagger(objects, kinds, names, indexes, 2 * arrays);
  const edges = new EdgeList();
  for (let target = 0; target < arrays; target++) edges.add(Edge.hidden, 0, target);
  for (let owner = arrays; owner < 2 * arrays; owner++) tagger.tag(owner, edges, live);
  assert.ok(looked <= 2 * arrays * arrays, String(looked));
  assert.equal(names.text(tagger.nameOf(arrays - 1, arrays - 1, names.of(''))), '(constant pool)');
});
