/** Which pages of V8's heaps are walked, from headers that are built here by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import type { V8Heap } from '../../../src/formats/v8/heap/heap.ts';
import { findHeapPages } from '../../../src/formats/v8/heap/heap-pages.ts';
import { layoutRows } from '../../../src/formats/v8/heap/layout-rows.ts';

const first = 0x7000_0000_0000;
const pageSize = 1 << 18;
const heapAddress = 0x5000_0000;

/** Consecutive pages with the headers of V8 12.4; only the start of each page is in memory. */
function pagesOf(flags: number[]): number[] {
  const extents = flags.map((flag, n) => {
    const head = Buffer.alloc(0x1000);
    const start = first + n * pageSize;
    // The header is reached through a pointer; here it is on the page itself.
    const words = [flag, start + 0x100];
    words[(0x100 + 8) / 8] = start;
    words[(0x100 + 16) / 8] = pageSize;
    words[(0x100 + 24) / 8] = heapAddress;
    words[(0x100 + 32) / 8] = start + 0x400;
    words[(0x100 + 40) / 8] = start + pageSize;
    for (const [at, word] of words.entries()) head.writeBigUInt64LE(BigInt(word ?? 0), at * 8);
    return { start, end: start + head.length, source: bytesSource(head), offset: 0 };
  });
  const page = layoutRows.find(({ from }) => from === 1204)?.page;
  const heap = { memory: new ProcessMemory(extents), layout: { page } } as unknown as V8Heap;
  const found = findHeapPages(heap, [[first, first + flags.length * pageSize]]);
  return found.map(({ start }) => (start - 0x400 - first) / pageSize);
}

test('a header within the objects of a page before, in a range of their own, is none', () => {
  const page = layoutRows.find(({ from }) => from === 1204)?.page;
  const header = (at: number, start: number, end: number) => {
    const words: number[] = [0, at + 0x100];
    words[(0x100 + 8) / 8] = at;
    words[(0x100 + 16) / 8] = 4 * pageSize;
    words[(0x100 + 24) / 8] = heapAddress;
    words[(0x100 + 32) / 8] = start;
    words[(0x100 + 40) / 8] = end;
    const bytes = Buffer.alloc(0x1000);
    for (const [i, word] of words.entries()) bytes.writeBigUInt64LE(BigInt(word ?? 0), i * 8);
    return { start: at, end: at + bytes.length, source: bytesSource(bytes), offset: 0 };
  };
  // The objects begin behind a guard, in the second range; within them is what looks like the header of another page.
  const inside = first + pageSize;
  const extents = [
    header(first, first + 0x3000, first + 3 * pageSize),
    header(inside, inside + 0x400, inside + pageSize),
  ];
  const heap = { memory: new ProcessMemory(extents), layout: { page } } as unknown as V8Heap;
  const ranges = [
    [first + 0x2000, first + 3 * pageSize],
    [first, first + 0x1000],
  ] as const;
  const found = findHeapPages(heap, ranges);
  assert.deepEqual(
    found.map(({ start, end }) => [start, end]),
    [[first + 0x3000, first + 3 * pageSize]],
  );
});

const [pointersFrom, fromPage, toPage, candidate] = [1 << 2, 1 << 3, 1 << 4, 1 << 8];
/** V8's flags PRE_FREED and UNREGISTERED: a page with both is free, and no longer counted as part of the heap. */
const [freed, unregistered] = [1 << 13, 1 << 16];

test('old and young pages, and one that the next collection will empty', () => {
  assert.deepEqual(pagesOf([pointersFrom, toPage, pointersFrom | candidate]), [0, 1, 2]);
});

test('a page that a collection of the young has emptied is none', () => {
  assert.deepEqual(pagesOf([fromPage, pointersFrom]), [1]);
});

test('nor is one that was emptied, and whose memory a busy machine has not given back yet', () => {
  const emptied = pointersFrom | candidate | freed | unregistered;
  assert.deepEqual(pagesOf([emptied, pointersFrom, emptied, toPage]), [1, 3]);
});
