/**
 * `--leak-check`: what the heap holds after a collection, at the ends of tests; the median of the run's last third
 * against that of its first. Growth over both limits is a leak, and the two snapshots of the heap say of what.
 */
import { computeDigest, computeGrowth, type HeapDigest } from '../analysis/memory/growth.ts';
import { type Heap, openHeap } from '../analysis/memory/heap.ts';
import { partNames } from '../bundle/layout.ts';
import { openBundle } from '../bundle/reader.ts';
import type { CiLeak } from '../model/ci-summary.ts';
import type { LeakLimits } from './options.ts';
import type { LoggedThread } from './test-logs.ts';

/** Fewer say nothing of a trend. */
const fewestSamples = 6;
const mostSuspects = 5;

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
    leaks.push({
      entry: thread.file ?? thread.process?.argv[1] ?? `process ${thread.pid}`,
      firstBytes: growth.first,
      lastBytes: growth.last,
      samples: growth.samples,
      tests: thread.tests.length,
      suspects: await findSuspects(thread, gaps),
    });
  }
  return leaks;
}

/** Medians of the first and the last third; undefined for too few samples. Pure. */
export function measureGrowth(
  samples: readonly number[],
): { first: number; last: number; samples: number } | undefined {
  if (samples.length < fewestSamples) return undefined;
  const third = Math.floor(samples.length / 3);
  return { first: median(samples.slice(0, third)), last: median(samples.slice(-third)), samples: third };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

async function findSuspects({ heaps, pid }: LoggedThread, gaps: string[]): Promise<CiLeak['suspects']> {
  const [early, late] = (['early', 'late'] as const).map((moment) =>
    heaps.find((one) => one.moment === moment),
  );
  if (!early || !late) {
    gaps.push(`process ${pid} left no two snapshots of its heap, so that what grew has no name`);
    return [];
  }
  try {
    const digests: HeapDigest[] = [await digest(early.bundle)];
    const { classes } = await withHeap(late.bundle, (heap) =>
      computeGrowth([...digests, computeDigest(heap)], heap, mostSuspects),
    );
    // What an object keeps alive is what leaks; V8's own kinds stand in parentheses.
    return classes
      .filter(({ class: name, retainedGrowthBytes }) => retainedGrowthBytes > 0 && !name.startsWith('('))
      .sort((one, other) => other.retainedGrowthBytes - one.retainedGrowthBytes)
      .slice(0, mostSuspects)
      .map(({ class: name, countGrowth, retainedGrowthBytes }) => ({
        name,
        countGrowth,
        bytesGrowth: retainedGrowthBytes,
      }));
  } catch (error) {
    gaps.push(
      `the heaps of process ${pid} can't be compared: ${error instanceof Error ? error.message : error}`,
    );
    return [];
  }
}

function digest(path: string): Promise<HeapDigest> {
  return withHeap(path, computeDigest);
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

/** A part's chunks share their memory; a stream may hold more than one at a time. */
async function* copies(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
