/** Two threads give the result of one: large files, flat and with line breaks, with a fault on either side of the middle. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Heap } from '../../../src/analysis/memory/heap.ts';
import {
  createEdgeColumns,
  type EdgeColumns,
  sharedMemory,
} from '../../../src/formats/heapsnapshot/columns.ts';
import { readHeapSnapshot } from '../../../src/formats/heapsnapshot/index.ts';
import { EdgeHelper } from '../../../src/formats/heapsnapshot/sections/edge-helper.ts';
import { snapshotOf } from '../../support/synth/synth-large-heapsnapshot.ts';

const nodes = 900_000;
const folder = mkdtempSync(join(tmpdir(), 'agentdump-heap-'));
const path = join(folder, 'large.heapsnapshot');

/** The size of an array is added to the node that owns it, if only one has it; that is so for half of the arrays. */
const isArray = (node: number): boolean => node % 9 === 5;
const isOwned = (node: number): boolean => node % 18 === 5;
const giant = 23;

/** A heap with at least three edges per node: over 60 MB, and thus large enough for a second thread. */
function write(separator: string, change: (text: string) => string = (text) => text): void {
  const bytes = snapshotOf(
    nodes,
    (node) => [
      ...[
        (node * 2 + 1) % nodes,
        (node * 2 + 2) % nodes,
        (node * 7919) % nodes || 1,
        Math.max(1, node - 1),
      ].map((target) => (isOwned(target) ? target + 1 : target)),
      ...(isOwned(node + 1) && node + 1 < nodes ? [node + 1] : []),
    ],
    ['', 'Link', 'next'],
    separator,
    (node) => [isArray(node) ? 1 : 3, node === giant ? 2 ** 33 : 16],
  );
  writeFileSync(path, Buffer.from(change(bytes.toString('latin1')), 'latin1'));
}

for (const [style, separator] of [
  ['flat', ','],
  ['in lines', '\n,'],
] as const)
  test(`a file ${style}: same columns, distances, classes, sizes`, async () => {
    write(separator);
    const one = await readHeapSnapshot(path);
    const two = await readHeapSnapshot(path, { threads: 2 });
    assert.ok(two.edges.packed.buffer instanceof SharedArrayBuffer);
    assert.deepEqual(Buffer.from(two.edges.packed.buffer), Buffer.from(one.edges.packed.buffer));
    assert.deepEqual(
      Buffer.from(two.edges.nameOrIndex.low.buffer),
      Buffer.from(one.edges.nameOrIndex.low.buffer),
    );
    assert.equal(two.edges.count, one.edges.count);
    assert.deepEqual(two.gaps, []);
    assert.deepEqual(Buffer.from(two.sharedTargets), Buffer.from(one.sharedTargets));
    const alone = new Heap(one);
    const shared = new Heap(two);
    await shared.prepare();
    assert.deepEqual(shared.distances, alone.distances);
    assert.deepEqual(shared.classes.kinds, alone.classes.kinds);
    assert.deepEqual(shared.classes.of, alone.classes.of);
    assert.deepEqual(shared.selfSize, alone.selfSize);
    assert.deepEqual(
      [giant - 1, giant, 31, 32].map((node) => shared.selfSize.get(node)),
      [2 ** 33 + 16, 0, 16, 16],
    );
    assert.deepEqual(shared.retained, alone.retained);
    assert.deepEqual(shared.aggregates, alone.aggregates);
    one.close();
    two.close();
  });

for (const [style, separator] of [
  ['flat', ','],
  ['in lines', '\n,'],
] as const)
  test(`a file ${style}: the second thread's rows, from the end to where the first one is`, {
    timeout: 60_000,
  }, async () => {
    write(separator);
    const one = await readHeapSnapshot(path);
    const columns = createEdgeColumns(one.edges.count, sharedMemory);
    const firstRows = Math.floor(one.edges.count / 3);
    columns.packed.set(one.edges.packed.subarray(0, firstRows));
    const helper = EdgeHelper.start(path, statSync(path).size, one.header, columns);
    assert.ok(helper);
    try {
      while (helper.meet(firstRows) === undefined) await setTimeout(20);
      const behind = readFileSync(path).subarray(helper.meet(firstRows));
      assert.match(behind.toString('latin1'), /^,\n"trace_function_infos"/);
      assert.equal(helper.maxName, 2);
      const namesOf = ({ nameOrIndex }: EdgeColumns): Uint16Array => nameOrIndex.low.subarray(firstRows);
      assert.deepEqual(Buffer.from(columns.packed.buffer), Buffer.from(one.edges.packed.buffer));
      assert.deepEqual(namesOf(columns), namesOf(one.edges));
      let isShared = helper.sharedTargets();
      for (; !isShared; isShared = helper.sharedTargets()) await setTimeout(20);
      assert.deepEqual(Buffer.from(isShared), Buffer.from(one.sharedTargets));
    } finally {
      helper.stop();
      one.close();
    }
  });

test('a fault in either half is found, as with one thread', async () => {
  for (const place of [0.35, 0.9]) {
    write(',', (text) => {
      const start = text.indexOf('"edges"');
      const at = text.indexOf(',2,', start + Math.floor((text.length - start) * place));
      return `${text.slice(0, at)},x,${text.slice(at + 3)}`;
    });
    await assert.rejects(readHeapSnapshot(path, { threads: 2 }), /among the numbers of "edges"/);
  }
  rmSync(folder, { recursive: true });
});
