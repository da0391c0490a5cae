/** Of what is large in a single snapshot: what shows that it grows is a suspect, the rest is one of the largest holders. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../../../src/analysis/memory/suspects/suspects.ts';
import { readHeapSnapshotSync } from '../../../../src/formats/heapsnapshot/index.ts';
import type { HeapSuspect } from '../../../../src/model/heap.ts';
import { renderHeap } from '../../../../src/report/heap/text.ts';
import { plainPalette } from '../../../../src/report/palette.ts';
import { synthProgram } from '../../../support/synth/synth-heapsnapshot.ts';

/** A list of rows, each with a field that leads to an object of this class. */
function suspectsOf(field: { type?: 'closure'; name: string }, withTables = false): HeapSuspect[] {
  const { snapshot, global } = synthProgram();
  const rows = snapshot.node({ name: 'Array', size: 64 });
  snapshot.edge(global, rows, 'rows');
  for (let at = 0; at < 1500; at++) {
    const row = snapshot.node({ name: 'Row', size: 2000 });
    snapshot.edge(rows, row, at).edge(row, snapshot.node({ ...field, size: 1000 }), 'field');
  }
  snapshot.edge(global, snapshot.node({ name: 'Table', size: 3 * 2 ** 20 }), 'table');
  return computeSuspects(new Heap(readHeapSnapshotSync(snapshot.toBuffer())), { withTables });
}

test('rows of data are holders whose growth is not known, unless memory ran out', () => {
  const found = suspectsOf({ name: 'Address' });
  assert.match(found[0]!.title, /global\.rows/);
  assert.ok(found.every(({ growth }) => growth === 'unknown'));
  assert.ok(suspectsOf({ name: 'Address' }, true).every(({ growth }) => growth === undefined));
});

for (const field of [
  { name: 'Promise' },
  { name: 'Timeout' },
  { name: 'TLSSocket' },
  { name: 'ServerResponse' },
  { type: 'closure' as const, name: 'done' },
])
  test(`rows that each have a ${field.name} of their own are a suspect`, () => {
    const [first] = suspectsOf(field);
    assert.match(first!.title, /global\.rows/);
    assert.equal(first!.growth, undefined);
  });

test('on the screen holders come below their own heading, after the suspects', () => {
  const text = (suspects: HeapSuspect[]): string =>
    renderHeap(
      { view: 'suspects', source: 'a.heapsnapshot', gaps: [], totalBytes: 2 ** 24, suspects } as never,
      { palette: plainPalette, columns: 200 },
    );
  const [holder] = suspectsOf({ name: 'Address' });
  const [suspect] = suspectsOf({ name: 'Promise' });
  assert.match(
    text([holder!]),
    /stands out as a leak in these 16 MiB\.\n\nLargest holders, growth not known\n.*earlier one and this\.\n\n1\. .*growth not known; wrong if: /s,
  );
  assert.match(text([suspect!, holder!]), /^1\. .*\nLargest holders, growth not known\n.*\n2\. /s);
  assert.ok(!text([suspect!]).includes('Largest holders'));
});
