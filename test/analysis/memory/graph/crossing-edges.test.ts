/**
 * Edges that are collected during the search are returned completely, by descending target, also if a few targets have most
 * of them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchesOf, sideBucketsFor } from '../../../../src/analysis/memory/graph/crossing-batches.ts';
import { CrossingEdges } from '../../../../src/analysis/memory/graph/crossing-edges.ts';
import { onlyWide } from '../../../support/run/test-nodes.ts';

type Edge = readonly [target: number, source: number];

/** Numbers below `limit` from a fixed seed (xorshift32). */
function numbersBelow(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

/** Count and checksums of the sources of each target, which reveal a lost, doubled or misplaced edge. */
function sumsOf(edges: Iterable<Edge>): Map<number, string> {
  const sums = new Map<number, [number, number, number]>();
  for (const [target, source] of edges) {
    const sum = sums.get(target) ?? [0, 0, 0];
    sums.set(target, [sum[0] + 1, sum[1] + source, sum[2] ^ Math.imul(source, 0x9e3779b1)]);
  }
  return new Map([...sums].sort(([a], [b]) => b - a).map(([target, sum]) => [target, sum.join()]));
}

function* givenBack(crossing: CrossingEdges): Generator<Edge> {
  let last = Number.POSITIVE_INFINITY;
  for (const { first, end, starts, sources } of batchesOf(crossing))
    for (let target = end - 1; target >= first; target--)
      for (let at = starts[target - first]!; at < starts[target - first + 1]!; at++) {
        assert.ok(target <= last, 'targets descend');
        last = target;
        yield [target, sources[at]!];
      }
}

function assertGivenBack(vertices: number, edges: readonly Edge[]): void {
  const crossing = new CrossingEdges(vertices, edges.length, sideBucketsFor(edges.length));
  for (const [target, source] of edges) crossing.add(target, source);
  assert.deepEqual([...sumsOf(givenBack(crossing))], [...sumsOf(edges)]);
  const [work, column] = crossing.release(vertices);
  assert.deepEqual([work.length, column.length], [vertices, vertices]);
}

test('edges of a few targets and of many, near and far, in no order', () => {
  const below = numbersBelow(7);
  const edges: Edge[] = [];
  let source = 1;
  for (let i = 0; i < 200_000; i++) {
    // Each source occurs once, because a duplicate edge may be left out.
    source += 1 + (i % 1000 === 0 ? below(100_000) : below(3));
    edges.push([below(2) ? below(source) : below(Math.min(source, 500)), source]);
  }
  assertGivenBack(source + 1, edges);
});

test('targets with more edges than a batch, beside others in one bucket', { skip: onlyWide }, () => {
  const below = numbersBelow(11);
  const popular = [17, 18, 4000, 65_535, 65_536, 70_000];
  const edges: Edge[] = [];
  for (let i = 0; i < 1_200_000; i++) {
    const target = i % 3 ? popular[i % popular.length]! : below(140_000);
    edges.push([target, 200_000 + i]);
  }
  assertGivenBack(1_500_000, edges);
});

test('a bucket that is full of targets with few edges each', () => {
  const edges: Edge[] = [];
  for (let round = 0; round < 6; round++)
    for (let target = 0; target < 65_536; target++) edges.push([target, 70_000 + round * 100_000 + target]);
  assertGivenBack(700_000, edges);
});

test('a source once more, at once, is one edge', () => {
  const crossing = new CrossingEdges(10, 3, sideBucketsFor(3));
  for (const source of [7, 7, 8]) crossing.add(3, source);
  assert.deepEqual(
    [...givenBack(crossing)],
    [
      [3, 7],
      [3, 8],
    ],
  );
});

test('without an edge there is nothing', () => {
  assert.deepEqual([...givenBack(new CrossingEdges(100_000, 0, sideBucketsFor(0)))], []);
});
