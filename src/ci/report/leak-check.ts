/**
 * `--leak-check`: compares the heap size after garbage collections between tests, as the medians of the first and the last
 * third of the run. Growth over both limits is a leak, unless one or two steps explain most of it (something was loaded) or
 * it has stopped (a cache is full). Two heap snapshots show which objects hold what has grown.
 */
import { type Heap, openHeap } from '../../analysis/memory/heap.ts';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { LeakLimits } from '../../bundle/layout/tests.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import type { CiLeak } from '../../model/ci-summary.ts';

import { describeEarly, nameGrowth } from './leak-suspects.ts';
import type { LoggedThread } from './test-logs.ts';

/** With fewer samples there is no reliable trend. */
const fewestSamples = 6;
/** Number of steps between two samples that may be caused by loading something. */
const loads = 2;
/** A leak still grows in the last third, unlike a cache that is full by then. */
const leastLateShare = 1 / 10;
/** Minimum share of the growth that must remain without its largest steps. */
const leastSteadyShare = 1 / 3;

export async function checkLeaks(
  threads: readonly LoggedThread[],
  limits: LeakLimits,
  gaps: string[],
): Promise<CiLeak[]> {
  const leaks: CiLeak[] = [];
  for (const thread of threads) {
    const growth = measureGrowth(thread.memory.map(({ heapUsedBytes }) => heapUsedBytes));
    if (!growth || growth.last - growth.first < limits.bytes) continue;
    if (growth.last < growth.first * (1 + limits.share)) continue;
    if (growth.steadyShare < leastSteadyShare || growth.lateShare < leastLateShare) continue;
    leaks.push({
      entry: thread.file ?? thread.process?.argv[1] ?? `process ${thread.pid}`,
      firstBytes: growth.first,
      lastBytes: growth.last,
      samples: growth.samples,
      tests: thread.tests.length,
      ...(await findSuspects(thread, gaps)),
    });
  }
  return leaks;
}

export interface MeasuredGrowth {
  /** Medians of the first and the last third, in bytes. */
  first: number;
  last: number;
  /** Number of samples per third. */
  samples: number;
  /** Share of the growth without the two largest steps, 0 to 1. */
  steadyShare: number;
  /** Share of the growth in the last third, 0 to 1; a third if the growth is even. */
  lateShare: number;
}

/** Undefined if there are too few samples. Pure. */
export function measureGrowth(samples: readonly number[]): MeasuredGrowth | undefined {
  if (samples.length < fewestSamples) return undefined;
  const third = Math.floor(samples.length / 3);
  const floor = floorOf(samples);
  const first = median(floor.slice(0, third));
  const last = median(floor.slice(-third));
  return {
    first,
    last,
    samples: third,
    steadyShare: steadyShareOf(floor),
    lateShare: lateShareOf(floor, third),
  };
}

/** For each sample, the minimum from there on. This excludes what concurrent tests hold temporarily. */
function floorOf(samples: readonly number[]): number[] {
  const floor = [...samples];
  for (let at = floor.length - 2; at >= 0; at--) floor[at] = Math.min(floor[at]!, floor[at + 1]!);
  return floor;
}

function steadyShareOf(floor: readonly number[]): number {
  const steps = floor.slice(1).map((bytes, at) => bytes - floor[at]!);
  const sum = (list: readonly number[]): number => list.reduce((total, step) => total + step, 0);
  const largest = steps.toSorted((a, b) => b - a).slice(0, loads);
  return sum(steps) === 0 ? 0 : 1 - sum(largest) / sum(steps);
}

function lateShareOf(floor: readonly number[], third: number): number {
  const [first = 0] = floor;
  const last = floor.at(-1) ?? first;
  const before = floor.at(-third - 1) ?? first;
  return last === first ? 0 : (last - before) / (last - first);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

type Named = Pick<CiLeak, 'suspects' | 'classes' | 'heaps'>;

async function findSuspects({ heaps, pid }: LoggedThread, gaps: string[]): Promise<Named> {
  const early = heaps.find(({ moment }) => moment === 'early');
  // Each later snapshot replaces the previous one.
  const late = heaps.findLast(({ moment }) => moment === 'late');
  if (!early || !late) {
    gaps.push(`process ${pid} left no two snapshots of its heap, so that what grew has no name`);
    return { suspects: [] };
  }
  try {
    const first = await withHeap(early.bundle, describeEarly);
    const named = await withHeap(late.bundle, (heap) => nameGrowth(first, heap));
    return { ...named, heaps: [early.bundle, late.bundle] };
  } catch (error) {
    gaps.push(
      `the heaps of process ${pid} can't be compared: ${error instanceof Error ? error.message : error}`,
    );
    return { suspects: [] };
  }
}

async function withHeap<Result>(path: string, use: (heap: Heap) => Result): Promise<Result> {
  const bundle = openBundle(path);
  try {
    const part = bundle.openPartFile(partNames.heapSnapshot);
    if (!part) {
      const gap = bundle.gaps.find(({ part: name }) => name === partNames.heapSnapshot);
      throw new Error(gap?.reason ?? 'the bundle holds no heap');
    }
    const heap = await openHeap(copies(part.chunks(1 << 18)), { sizeBytes: part.bytes });
    try {
      return use(heap);
    } finally {
      heap.snapshot.close();
    }
  } finally {
    bundle.close();
  }
}

/** The chunks of a part share a buffer, but a stream may hold several of them at a time. */
async function* copies(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
