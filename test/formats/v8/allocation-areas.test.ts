/** Allocation areas in memory that is built here by hand: what is one, what only looks like one, and how many there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import '../../support/run/fuzz-runs.ts';
import { bytesSource } from '../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../src/bytes/memory.ts';
import { findUnusedStretches } from '../../../src/formats/v8/heap/allocation-areas.ts';

const page = { start: 0x7000_0000_1000, end: 0x7000_0004_0000 };
const other = { start: 0x7000_0004_1000, end: 0x7000_0008_0000 };
const base = 0x10_000;

function find(words: number[], searched: [number, number][] = [[base, base + words.length * 8]]) {
  const bytes = Buffer.alloc(words.length * 8);
  words.forEach((word, i) => {
    bytes.writeBigUInt64LE(BigInt(word), i * 8);
  });
  const memory = new ProcessMemory([
    { start: base, end: base + bytes.length, source: bytesSource(bytes), offset: 0 },
  ]);
  return findUnusedStretches(memory, [other, page], searched);
}

test('start, top and limit on one page', () => {
  const top = page.start + 0x500;
  const found = find([7, page.start, top, page.end, 9]);
  assert.deepEqual([...found], [[page, [{ from: top, to: page.end }]]]);
});

test('the highest top of those that end at one place, in order of address', () => {
  const { start } = page;
  const found = find([
    start,
    start + 0x500,
    page.end,
    0,
    start,
    start + 0x400,
    page.end,
    0,
    start,
    start + 8,
    start + 16,
  ]);
  assert.deepEqual(found.get(page), [
    { from: start + 8, to: start + 16 },
    { from: start + 0x500, to: page.end },
  ]);
});

test('what is full, falls, is tagged, or lies on two pages or on none', () => {
  const { start, end } = page;
  for (const words of [
    [start, end, end],
    [start + 16, start + 8, end],
    [start + 1, start + 9, end],
    [start, start + 8, other.end],
    [0x5000, 0x6000, 0x7000],
    [start, start + 8],
  ])
    assert.equal(find(words).size, 0, `${words}`);
});

test('an area over the edge of two reads, and memory that is not there', () => {
  const words = new Array(513).fill(0);
  words.splice(510, 3, page.start, page.start + 8, page.end);
  assert.equal(find(words).get(page)?.length, 1);
  assert.equal(find(words, [[0x9_000, 0x50_000]]).size, 0);
});

test('whatever memory holds: stretches lie on their page, and are few', () => {
  const word = fc.oneof(
    fc.integer({ min: 0, max: 0x8000 }).map((n) => page.start + n * 8),
    fc.integer({ min: 0, max: 0x8000 }).map((n) => other.start + n),
    fc.maxSafeInteger().map(Math.abs),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 400 }), (words) => {
      for (const [on, stretches] of find(words)) {
        assert.ok(stretches.length <= 16);
        for (const { from, to } of stretches) assert.ok(from >= on.start && from < to && to <= on.end);
      }
    }),
  );
});
