/**
 * For `--leak-check`: measures the heap after a collection, between tests, and takes heap snapshots that identify growth: an
 * early one, and later ones only if the heap has grown by more than the limits, spaced so that the last one is in the last
 * third of the run. None is taken at the end of the process, because the runner has released its own objects by then. A
 * collection takes milliseconds, so there are at most five per second.
 */
import { rmSync } from 'node:fs';
import type { LeakLimits } from '../bundle/layout/tests.ts';
import { memoryUsage } from '../platform/memory-usage.ts';
import type { TestLog } from './log.ts';

const sampleEveryMs = 200;
/** After this many tests, one-time loading and compilation is complete. */
const warmUpTests = 3;
/** The factor between two late snapshots: the last one is beyond two thirds of the samples. */
const lateStep = 1.5;

export class MemoryWatch {
  readonly #log: TestLog;
  readonly #limits: LeakLimits;
  readonly #dumpHeap: (reason: string) => string | undefined;
  #collect: (() => void) | undefined;
  #sampledMs = Number.NEGATIVE_INFINITY;
  #samples = 0;
  /** The last sample may include memory that other tests were using. */
  #othersRan = false;
  #earlyBytes: number | undefined;
  #late: string | undefined;
  #nextLate = 0;

  constructor(log: TestLog, limits: LeakLimits, dumpHeap: (reason: string) => string | undefined) {
    this.#log = log;
    this.#limits = limits;
    this.#dumpHeap = dumpHeap;
  }

  /** Takes a sample after this many tests. When concurrent tests have ended, another sample shows what they released. */
  sample(tests: number, othersRun: boolean): void {
    const isLast = this.#othersRan && !othersRun;
    const isEarly = performance.now() - this.#sampledMs < sampleEveryMs;
    if (tests < warmUpTests || (isEarly && !isLast)) return;
    this.#othersRan = othersRun;
    const heapBytes = this.#take(tests);
    if (this.#earlyBytes === undefined) {
      this.#earlyBytes = heapBytes;
      // Objects that survive two collections are in the old generation and don't move, which V8 needs to recognize them in
      // the next snapshot.
      this.#collect?.();
      this.#collect?.();
      this.#takeHeap('early');
    } else if (this.#samples >= this.#nextLate && this.#hasGrown(this.#earlyBytes, heapBytes)) {
      this.#nextLate = Math.ceil(this.#samples * lateStep);
      if (this.#late !== undefined) rmSync(this.#late, { recursive: true, force: true });
      this.#late = this.#takeHeap('late');
    }
    // The time of the snapshot does not count.
    this.#sampledMs = performance.now();
  }

  #hasGrown(before: number, now: number): boolean {
    return now - before >= this.#limits.bytes && now >= before * (1 + this.#limits.share);
  }

  #take(tests: number): number {
    this.#collect ??= exposeCollector();
    this.#collect();
    const { heapUsed, rss, external } = memoryUsage();
    this.#log.write({
      kind: 'memory',
      heapUsedBytes: heapUsed,
      rssBytes: rss,
      externalBytes: external,
      tests,
    });
    this.#samples++;
    return heapUsed;
  }

  #takeHeap(moment: 'early' | 'late'): string | undefined {
    const bundle = this.#dumpHeap(
      `leak check: the heap ${moment === 'early' ? 'after the first tests' : 'after it grew'}`,
    );
    if (bundle !== undefined) this.#log.write({ kind: 'heap', moment, bundle });
    return bundle;
  }
}

/** The function that `--expose-gc` provides, without the flag: a context created while the flag is set contains it. */
function exposeCollector(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
