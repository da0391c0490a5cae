/**
 * For `--leak-check`: what the heap holds after a collection, between tests, and snapshots of it by which growth
 * gets names: one early, and later ones only where the heap has grown by more than the limits, at moments so far apart
 * that the last of them is of the run's last third. At the process's end none: the runner has let go of its own by then.
 * A collection costs milliseconds, so there are at most five a second.
 */
import { rmSync } from 'node:fs';
import type { LeakLimits } from '../bundle/layout/tests.ts';
import { memoryUsage } from '../platform/memory-usage.ts';
import type { TestLog } from './log.ts';

const sampleEveryMs = 200;
/** What is loaded and compiled once is there after so many tests. */
const warmUpTests = 3;
/** From one late heap to the next: the last lies beyond two thirds of the samples. */
const lateStep = 1.5;

export class MemoryWatch {
  readonly #log: TestLog;
  readonly #limits: LeakLimits;
  readonly #dumpHeap: (reason: string) => string | undefined;
  #collect: (() => void) | undefined;
  #sampledMs = Number.NEGATIVE_INFINITY;
  #samples = 0;
  /** What other tests held for their time may be in the last sample. */
  #othersRan = false;
  #earlyBytes: number | undefined;
  #late: string | undefined;
  #nextLate = 0;

  constructor(log: TestLog, limits: LeakLimits, dumpHeap: (reason: string) => string | undefined) {
    this.#log = log;
    this.#limits = limits;
    this.#dumpHeap = dumpHeap;
  }

  /** After so many tests; once the others have ended too, another one tells what they let go of. */
  sample(tests: number, othersRun: boolean): void {
    const isLast = this.#othersRan && !othersRun;
    const isEarly = performance.now() - this.#sampledMs < sampleEveryMs;
    if (tests < warmUpTests || (isEarly && !isLast)) return;
    this.#othersRan = othersRun;
    const heapBytes = this.#take(tests);
    if (this.#earlyBytes === undefined) {
      this.#earlyBytes = heapBytes;
      // What survives two collections is old and stays in its place: only so V8 knows it again in the next snapshot.
      this.#collect?.();
      this.#collect?.();
      this.#takeHeap('early');
    } else if (this.#samples >= this.#nextLate && this.#hasGrown(this.#earlyBytes, heapBytes)) {
      this.#nextLate = Math.ceil(this.#samples * lateStep);
      if (this.#late !== undefined) rmSync(this.#late, { recursive: true, force: true });
      this.#late = this.#takeHeap('late');
    }
    // A snapshot's own time is none of the tests'.
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

/** As `--expose-gc` gives it, without the flag: a context that is made while it is set has the function. */
function exposeCollector(): () => void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
