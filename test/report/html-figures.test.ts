/** The data of the page's figures: rows of the timeline, rectangles, axes, lines, highlighted code, folds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import '../support/run/fuzz-runs.ts';
import type { AgentRun } from '../../src/model/agent-state.ts';
import { tokensOf } from '../../src/report/html/figures/code-tokens.ts';
import { nearest, seriesOf } from '../../src/report/html/figures/memory-series.ts';
import { retainedTree } from '../../src/report/html/figures/retained-tree.ts';
import { byteTicks, timeTicks } from '../../src/report/html/figures/scale.ts';
import { computeTimeline } from '../../src/report/html/figures/timeline.ts';
import { barPlace, rangesOf } from '../../src/report/html/figures/timeline-places.ts';
import { nest, squarify } from '../../src/report/html/figures/treemap.ts';
import { frameRows } from '../../src/report/html/parts/frame-rows.ts';
import { findIn, searchIndex } from '../../src/report/html/search-index.ts';
import { synthAccount } from '../support/synth/synth-account.ts';

const emptyRun: AgentRun = {
  id: 'r',
  status: 'running',
  steps: [],
  modelCalls: [],
  toolCalls: [],
  messages: [],
  pending: [],
};

test('timeline: runs hold steps, steps hold calls, in the order of time', () => {
  const { agent } = synthAccount({ turns: 2 });
  const timeline = computeTimeline(agent!);
  assert.deepEqual(
    timeline?.rows.map(({ anchor, depth }) => `${depth} ${anchor}`),
    [
      '0 run-r1',
      '1 step-s1',
      ...['2 call-c0', '2 tool-t0', '2 call-c1', '2 tool-t1', '2 step-s2'],
      '1 run-r2',
      ...['2 step-s1~2', '3 call-c0~2', '3 tool-t0~2', '3 step-s2~2'],
      '0 request-1',
    ],
  );
  assert.equal(timeline?.endMs, Date.parse(agent!.endedAt!));
  const [, , call, , , open, failed] = timeline?.rows ?? [];
  assert.deepEqual([call?.outcome, open?.outcome, failed?.outcome], ['done', 'open', 'failed']);
  assert.equal(open?.endMs, timeline?.endMs);
});

test('timeline: circles of parents, unknown parents, ids that repeat and times that are none lose no row', () => {
  const steps = [
    { id: 'a', status: 'running', parentId: 'b' },
    { id: 'b', status: 'running', parentId: 'a' },
    { id: 'c', status: 'finished', parentId: 'nowhere', startedAt: 'yesterday' },
    { id: 'c', status: 'finished' },
    { id: '<"x y">', status: 'finished' },
  ];
  const runs = [
    { ...emptyRun, id: 'r', parentId: 'r', steps },
    { ...emptyRun, id: 'r', parentId: 'gone' },
  ];
  const rows = computeTimeline({ runs })?.rows ?? [];
  assert.equal(rows.length, 7);
  assert.equal(new Set(rows.map(({ anchor }) => anchor)).size, 7);
  for (const { anchor } of rows) assert.match(anchor, /^[\w.~-]+$/);
  assert.equal(computeTimeline({ runs: [] }), undefined);
});

test('timeline: no depth of nesting is too deep', () => {
  const steps = Array.from({ length: 20_000 }, (_, n) => ({
    id: `s${n}`,
    status: 'running',
    parentId: `s${n - 1}`,
  }));
  assert.equal(computeTimeline({ runs: [{ ...emptyRun, steps }] })?.rows.length, 20_001);
});

test('bars lie within the picture, and their words where there is room', () => {
  const timeline = computeTimeline(synthAccount({ turns: 50 }).agent!)!;
  for (const { spanMs } of rangesOf(timeline))
    for (const row of timeline.rows) {
      const place = barPlace(row, { fromMs: timeline.endMs - spanMs, endMs: timeline.endMs });
      assert.ok(place && place.left >= 0 && place.width >= 0 && place.left + place.width <= 100.001);
      if (place.textSide === 'before') assert.ok(place.left > 14);
      if (place.textSide === 'after') assert.ok(place.left + place.width <= 72);
    }
});

test('rectangles fill the room, in the shares of their sizes, and none overlaps another', () => {
  const within = { x: 5, y: 7, width: 400, height: 250 };
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 40 }),
      (sizes) => {
        const placed = squarify(sizes, (size) => size, within);
        const total = sizes.reduce((a, b) => a + b, 0);
        assert.equal(placed.length, sizes.length);
        for (const { item, x, y, width, height } of placed) {
          assert.ok(Math.abs((width * height) / (400 * 250) - item / total) < 1e-6);
          assert.ok(x >= 4.999 && y >= 6.999 && x + width <= 405.001 && y + height <= 257.001);
        }
        for (const [n, a] of placed.entries())
          for (const b of placed.slice(n + 1)) {
            const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
            const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
            assert.ok(across < 1e-6 || down < 1e-6);
          }
      },
    ),
  );
  assert.deepEqual(
    squarify([0, -1, Number.NaN], (size) => size, within),
    [],
  );
});

test('rectangles in rectangles: each lies in the one above it, as deep as there is room', () => {
  interface Item {
    size: number;
    inside: Item[];
  }
  const chain = (depth: number): Item => ({ size: 1, inside: depth > 0 ? [chain(depth - 1)] : [] });
  const nesting = { sizeOf: ({ size }: Item) => size, insideOf: ({ inside }: Item) => inside };
  const boxes = nest([chain(50), { size: 1, inside: [] }], nesting, { x: 0, y: 0, width: 800, height: 400 });
  const depths = boxes.map(({ above }) => above.length);
  assert.ok(Math.max(...depths) > 8 && Math.max(...depths) < 20, depths.join(' '));
  for (const { x, y, width, height, above } of boxes) {
    const outer = boxes.find(({ item }) => item === above.at(-1));
    if (!outer) continue;
    assert.ok(x > outer.x && y > outer.y, 'begins inside');
    assert.ok(x + width < outer.x + outer.width && y + height < outer.y + outer.height, 'ends inside');
  }
});

test('the tree of a heap adds up, whatever its rows name as their parents', () => {
  const root = retainedTree([
    { name: '(heap)', parent: -1, bytes: 1, count: 1 },
    { name: 'Session', parent: 0, bytes: 10, count: 2 },
    { name: '(string)', parent: 1, bytes: 100, count: 3 },
    { name: 'astray', parent: 7, bytes: 1000, count: 1 },
  ]);
  assert.equal(root?.bytes, 111);
  assert.equal(root?.children[0]?.bytes, 110);
  assert.deepEqual([root?.isEngine, root?.children[0]?.isEngine], [true, false]);
  assert.equal(retainedTree([]), undefined);
});

test('axes have round steps', () => {
  assert.deepEqual(timeTicks(7300, 6), [0, 2000, 4000, 6000]);
  assert.deepEqual(timeTicks(0, 6), [0]);
  assert.deepEqual(
    byteTicks(480e6, 4).map((bytes) => bytes / 2 ** 20),
    [0, 200, 400, 600],
  );
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e13, noNaN: true }), (most) => {
      assert.ok(timeTicks(most, 6).length <= 12);
      const bytes = byteTicks(most, 4);
      assert.ok(bytes.length <= 8 && bytes.at(-1)! >= most * 0.999);
    }),
  );
});

test('lines keep their peaks when they are thinned', () => {
  const samples = Array.from({ length: 10_000 }, (_, n) => ({
    at: new Date(n * 1000).toISOString(),
    rssBytes: n === 5003 ? 999 : 10,
  }));
  const [series] = seriesOf(samples, 100);
  assert.ok((series?.points.length ?? 0) <= 101);
  assert.equal(series?.points.find(({ bytes }) => bytes === 999)?.atMs, 5_003_000);
  assert.equal(nearest(series?.points ?? [], 5_003_100)?.bytes, 999);
  assert.deepEqual(
    seriesOf(
      [
        { at: 'never', rssBytes: 1 },
        { at: 'never', rssBytes: 2 },
      ],
      100,
    ),
    [],
  );
});

test('pieces of code are the line again, and known for what they are', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (line) => {
      assert.equal(
        tokensOf(line)
          .map(({ text }) => text)
          .join(''),
        line,
      );
    }),
  );
  assert.deepEqual(
    tokensOf('const a = f("x\\"y", 0x1f); // end').flatMap(({ kind, text }) =>
      kind === 'plain' ? [] : [[kind, text]],
    ),
    [
      ['keyword', 'const'],
      ['call', 'f'],
      ['string', '"x\\"y"'],
      ['number', '0x1f'],
      ['comment', '// end'],
    ],
  );
});

test("other people's frames in a row are one row; their numbers stay", () => {
  const rows = frameRows(synthAccount({ frames: 12 }).error?.frames ?? []);
  assert.deepEqual(
    rows.map((row) => ('frames' in row ? row.text : row.number)),
    [1, 2, 3, 4, '4 frames of express', 9, 10, 11, 12],
  );
});

test('a search finds text of every kind, without regard to case, and no more than was asked for', () => {
  const index = searchIndex(synthAccount({ turns: 100 }));
  const sectionsOf = (word: string) => new Set(findIn(index, word, 1000).map(({ section }) => section));
  for (const [word, section] of [
    ['HOTELS', 'Frame'],
    ['left-PAD', 'Package'],
    ['tcpsocket', 'Handle'],
    ['turn 57', 'assistant'],
    ['(withheld)', 'Variable'],
    ['torn', 'Gap'],
  ] as const)
    assert.ok(sectionsOf(word).has(section), `${word} in ${[...sectionsOf(word)]}`);
  assert.equal(findIn(index, 'lisbon', 7).length, 7);
  assert.deepEqual(findIn(index, '.*', 7), []);
});
