/** How full collections are: real heaps whose collections are known, with and without the values of numbers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Heap, openHeap } from '../../../src/analysis/memory/heap.ts';
import { parseQuery } from '../../../src/analysis/memory/query/parse.ts';
import { runQuery } from '../../../src/analysis/memory/query/run.ts';
import { FillReader } from '../../../src/analysis/memory/questions/fill.ts';
import { computeFillTable } from '../../../src/analysis/memory/questions/fill-table.ts';
import { findChild } from '../../../src/analysis/memory/questions/node-rows.ts';
import { heapSchema } from '../../../src/model/heap.ts';
import { renderHeap } from '../../../src/report/heap/text.ts';
import { plainPalette } from '../../../src/report/palette.ts';
import { nodesInTurn, usualNode } from '../../support/run/test-nodes.ts';

const program = fileURLToPath(
  new URL('../../../fixtures/programs/heap/heap-of-collections.mjs', import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-fill-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function heapOf(node: string, ...words: string[]): Promise<Heap> {
  const path = join(folder, 'a.heapsnapshot');
  rmSync(path, { force: true });
  execFileSync(node, [program, path, ...words]);
  return await openHeap(path);
}

/** Kind, capacity and use of what `collections.<name>` holds. */
function fillOf(heap: Heap, name: string): unknown[] | undefined {
  const [row] = runQuery(heap, parseQuery('has dictionary and has plain select id limit 1'), 1).table!.rows;
  const holder = findChild(heap, heap.snapshot.findById(row![0] as number), name);
  const inner = findChild(heap, holder, 'of');
  const fill = new FillReader(heap).largest(inner < 0 ? holder : inner);
  return fill && [fill.kind, fill.capacity, fill.used];
}

/** By name: kind, capacity, and the entries in use. */
const truth: Record<string, [string, number, number | undefined] | undefined> = {
  dictionary: ['dictionary', 64, 40],
  plain: undefined,
  full: ['map', 1024, 1024],
  half: ['map', 1024, 513],
  set: ['set', 8, 5],
  numbers: ['set', 8, undefined],
  exact: ['array', 100, 100],
  // 82 + 82 / 2 + 16 or so, by V8's rule of growth.
  pushed: ['array', 140, 100],
  pair: ['array', 2, 2],
  floats: ['array', 100, undefined],
  sparse: ['sparse array', 4, 2],
};
/** Node 22 and 24 write which entries are deleted; for the others they may be entries of two numbers. */
const thinned = (major: number): [string, number, number] => [
  'map',
  1024,
  major === 22 || major === 24 ? 701 : 1000,
];

for (const { name, path: node, major } of nodesInTurn)
  for (const words of [['numbers'], []])
    test(`${name}, numbers ${words.length ? 'written' : 'missing'}: each collection's room and use`, async () => {
      const heap = await heapOf(node, ...words);
      const expected = { ...truth, thinned: thinned(major) };
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((of) => [of, fillOf(heap, of)])),
        expected,
      );
    });

test('by class: sums, those whose use is not known, and who holds what wastes; the worst with its path', async () => {
  const heap = await heapOf(usualNode.path);
  const table = computeFillTable(heap, 500);
  const maps = table.classes.find(({ class: of, kind }) => of === 'Map' && kind === 'map')!;
  assert.ok(maps.empty === 0 && maps.unknown >= 50, JSON.stringify(maps));
  assert.ok(maps.fill! > 0.5 && maps.fill! < 0.9, String(maps.fill));
  assert.equal(maps.holders.find(({ holder }) => holder === 'Holder.of')?.count, 2);
  const half = table.largest.find(({ path }) => path === 'global.collections.half.of');
  assert.deepEqual(half && [half.capacity, half.used, half.wastedBytes], [1024, 513, (1024 - 513) * 24]);
  const sum = table.classes.reduce((bytes, row) => bytes + row.wastedBytes, 0);
  assert.equal(sum, table.wastedBytes);
});

test('as text: what is not known is said', async () => {
  const heap = await heapOf(usualNode.path);
  const table = computeFillTable(heap, 500);
  const text = renderHeap(
    { view: 'fill', schema: heapSchema, source: 'a', gaps: [], ...table },
    { palette: plainPalette, columns: 100 },
  );
  assert.match(text, /^[\d,]+ collections, .* reserved; free entries waste /);
  assert.match(text, /12 KiB +513 +1,024 +@\d+ +map +Map +global\.collections\.half\.of/);
  assert.match(text, /The use of \d+ collections .* is not known/);
});
