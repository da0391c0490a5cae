/** How much is read for the facts of a node, with objects that are made up here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Names } from '../../../src/formats/v8/graph/names.ts';
import { NodeReader } from '../../../src/formats/v8/graph/node-facts.ts';
import type { ObjectKinds } from '../../../src/formats/v8/graph/object-kinds.ts';
import type { HeapObjects } from '../../../src/formats/v8/graph/objects/heap-objects.ts';
import type { V8Heap } from '../../../src/formats/v8/heap/heap.ts';

const [registry, table] = [10, 20];
const globalObject = 0x500;
const tableWords = 30_000;

test('a dictionary is searched for the tag of its class once, however often the class is asked for', () => {
  let reads = 0;
  const layout = {
    line: 1306,
    types: { globalObject },
    object: { properties: 8 },
    fixedArray: { data: 16 },
    dictionary: { start: 3, entryWords: 3 },
    map: { bitField3: 0, isDictionaryShift: 0 },
  };
  const heap = { layout, memory: { readUint32: () => 1 } };
  const objects = {
    allOf: () => [],
    firstReadOnly: 0,
    next: () => -1,
    mapOf: () => 0,
    maps: { types: [globalObject] },
    words: { word: () => 0x1001 },
    sizeOf: (object: number) => (object === table ? tableWords : 8),
    isReadOnly: () => false,
    pointer: () => 0x2001,
    target(object: number) {
      if (object === registry) return table;
      reads++;
      return table;
    },
  };
  const kinds = { of: () => ({ nodeType: 'object', name: '' }), isJsObject: () => true };
  const names = new Names(undefined);
  const reader = new NodeReader(
    heap as unknown as V8Heap,
    objects as unknown as HeapObjects,
    kinds as unknown as ObjectKinds,
    names,
    () => undefined,
  );
  for (let at = 0; at < 1000; at++) assert.equal(names.text(reader.of(registry).name), 'global');
  assert.ok(reads > 0 && reads < tableWords, String(reads));
});
