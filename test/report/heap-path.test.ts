/** A path down a long list is shown by its first and last link, with the number of links between them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeapDocument, heapSchema } from '../../src/model/heap.ts';
import { renderHeap } from '../../src/report/heap/text.ts';
import { plainPalette } from '../../src/report/palette.ts';

function row(id: number, kind: string) {
  const sizes = { selfSizeBytes: 16, retainedSizeBytes: 16 };
  return { id, name: kind, type: 'object', class: kind, ...sizes, distance: 1, dominatorId: null };
}

function pathOver(links: number): string[] {
  const steps = [
    { edge: '', edgeType: '', node: row(1, 'global') },
    ...Array.from({ length: links }, (_, at) => ({
      edge: 'next',
      edgeType: 'property',
      node: row(100 + at, 'Link'),
    })),
    { edge: 'value', edgeType: 'property', node: row(2, 'Leaf') },
  ];
  const head: HeapDocument = { schema: heapSchema, source: 'a.heapsnapshot', gaps: [] };
  const path = { steps, text: 'global.next.value' };
  return renderHeap(
    { view: 'path', ...head, node: row(2, 'Leaf'), path },
    { palette: plainPalette, columns: 100 },
  )
    .split('\n')
    .filter((line) => /@\d+ .*(?:global|Link|Leaf)$|more/.test(line));
}

test('a thousand links take three lines', () => {
  const lines = pathOver(1000);
  assert.equal(lines.length, 5);
  assert.match(lines[1]!, /@100 /);
  assert.match(lines[2]!, /… 998 more/);
  assert.match(lines[3]!, /@1099 /);
});

test('five are all shown', () => assert.equal(pathOver(5).length, 7));
