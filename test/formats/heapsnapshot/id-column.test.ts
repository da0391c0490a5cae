/** Ids are returned as they were read, whatever their order and whatever pieces they arrived in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IdColumn } from '../../../src/formats/heapsnapshot/sections/id-column.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';

/** Pieces of ids: rising by two, as V8 assigns them, or arbitrary. */
const pieces = fc.array(
  fc.record({
    first: fc.integer({ min: 0, max: 0xfffff000 }),
    length: fc.integer({ min: 1, max: 3000 }),
    step: fc.constantFrom(2, 2, 2, 0, 1, 4),
  }),
  { minLength: 1, maxLength: 8 },
);

function idsOf({ first, length, step }: { first: number; length: number; step: number }): Uint32Array {
  return Uint32Array.from({ length }, (_, row) => first + step * row);
}

test('each id is where it was put, read or not yet to the end, and on the other side of a thread', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 2000 }), (list, unread) => {
      const all = list.flatMap((piece) => [...idsOf(piece)]);
      const column = new IdColumn(new Uint32Array(all.length + unread));
      let row = 0;
      for (const piece of list) {
        column.fill(row, idsOf(piece));
        row += piece.length;
      }
      const check = (ids: IdColumn): void => {
        for (const [at, id] of all.entries())
          if (ids.get(at) !== id) assert.fail(`row ${at}: ${ids.get(at)}`);
        assert.equal(ids.find(all.at(-1)!, all.length), all.indexOf(all.at(-1)!));
        assert.equal(ids.find(0xffffffff, all.length), all.indexOf(0xffffffff));
        const wanted = new Set([...all.filter((_, at) => at % 97 === unread % 97), all[0]! + 1, 7]);
        for (const count of [all.length, unread % all.length]) {
          const rows = [...all.entries()].filter(([at, id]) => at < count && wanted.has(id));
          assert.deepEqual(
            ids.rowsOf(wanted, count),
            rows.map(([at]) => at),
          );
        }
      };
      check(column);
      const parts = column.parts();
      check(new IdColumn(parts.words, parts.firsts));
      check(column);
    }),
    { numRuns: fuzzRuns(60) },
  );
});

test('ids that rise by two are not written down one by one', () => {
  const rows = 8192;
  const column = new IdColumn(new Uint32Array(rows));
  column.fill(0, idsOf({ first: 1, length: rows, step: 2 }));
  assert.equal(column.get(5000), 10_001);
  assert.ok(column.parts().words.every((word) => word === 0));
});
