/**
 * Reads the heaps of many kinds of program from their cores, and compares each with V8's own snapshot of the same heap: the
 * share of V8's nodes by class and size, of its strong edges by name, and of its hundred largest objects by retained size; the
 * first suspect; and the most frequent differences.
 * `npm run trial:heap-graph`. NODES=24,26,22,20, KINDS=server,compiler, DIFFERENCES=20.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCoreGraph } from '../../src/analysis/core/graph/core-graph.ts';
import { snapshotText } from '../../src/analysis/core/graph/snapshot-text.ts';
import { type Heap, openHeap } from '../../src/analysis/memory/heap.ts';
import { computeSuspects } from '../../src/analysis/memory/suspects/suspects.ts';
import { makeCore } from '../support/cores/core-victims.ts';
import {
  countEdges,
  countLocations,
  countNodes,
  retainedShare,
  shareOf,
} from '../support/heaps/heap-graph-oracle.ts';
import { nodeOf } from '../support/run/test-nodes.ts';

const program = fileURLToPath(new URL('kinds.cjs', import.meta.url));
const majors = (process.env['NODES'] ?? '24').split(',').map(Number);
const all = execFileSync(process.execPath, [program], { encoding: 'utf8' }).trim().split(' ');
const kinds = process.env['KINDS']?.split(',') ?? all;
const shown = Number(process.env['DIFFERENCES'] ?? 20);

type Counts = Map<string, number>;

/** Adds what one side has more of: positive if it is V8's. */
function addDifferences(into: Counts, truth: Counts, found: Counts): void {
  for (const key of new Set([...truth.keys(), ...found.keys()])) {
    const difference = (truth.get(key) ?? 0) - (found.get(key) ?? 0);
    if (difference !== 0) into.set(key, (into.get(key) ?? 0) + difference);
  }
}

/** Heaps of workers are in our graph only, so what was added is told apart from what is missing. */
function print(title: string, differences: Counts): void {
  for (const [word, sign] of [
    ['missing', 1],
    ['added', -1],
  ] as const) {
    const rows = [...differences].filter(([, count]) => count * sign > 0);
    rows.sort((a, b) => sign * (b[1] - a[1]));
    console.log(`  ${title} ${word}`);
    for (const [key, count] of rows.slice(0, shown)) console.log(`    ${count * sign}: ${key}`);
  }
}

function firstSuspect(heap: Heap): string {
  const [first] = computeSuspects(heap, { limit: 1 });
  return first ? `${first.rule}: ${first.path ?? first.title}`.replace(/@\d+/g, '@') : 'none';
}

function compareSuspects(truth: Heap, found: Heap): string {
  const [wanted, own] = [firstSuspect(truth), firstSuspect(found)];
  return wanted === own ? `the same (${wanted.slice(0, 60)})` : `differs: V8's ${wanted}, ours ${own}`;
}

const percent = (share: number) => `${(100 * share).toFixed(2)} %`;

for (const major of majors) {
  const [nodes, edges, locations]: [Counts, Counts, Counts] = [new Map(), new Map(), new Map()];
  for (const kind of kinds) {
    const death = makeCore(nodeOf(major), [program, kind, 'own.heapsnapshot']);
    try {
      const truth = await openHeap(join(death.core, '..', 'own.heapsnapshot'));
      const found = await openHeap(snapshotText(readCoreGraph(death.core).graph));
      const [ofNodes, ofEdges] = [
        [countNodes(truth), countNodes(found)],
        [countEdges(truth), countEdges(found)],
      ] as const;
      addDifferences(nodes, ...ofNodes);
      addDifferences(edges, ...ofEdges);
      const ofLocations = [countLocations(truth), countLocations(found)] as const;
      addDifferences(locations, ...ofLocations);
      const shares = [
        `nodes ${percent(shareOf(...ofNodes))} of ${truth.nodeCount}`,
        `edges ${percent(shareOf(...ofEdges))}`,
        `locations ${percent(shareOf(...ofLocations))}`,
        `retained ${percent(retainedShare(truth, found, 100))}`,
      ];
      console.log(
        `Node ${major} ${kind}: ${shares.join(', ')}, first suspect ${compareSuspects(truth, found)}`,
      );
    } catch (error) {
      console.log(`Node ${major} ${kind}: ${error instanceof Error ? error.message : error}`);
    } finally {
      death.remove();
    }
  }
  if (shown > 0) {
    print('nodes', nodes);
    print('edges', edges);
    print('locations', locations);
  }
}
