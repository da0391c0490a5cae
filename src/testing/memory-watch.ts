/**
 * For `--leak-check`: what the heap holds after a collection, at the ends of tests, and two snapshots of it, early and at
 * the end, by which growth gets names. A collection costs milliseconds, so there are at most five a second.
 */
import type { TestLog } from './log.ts';

const sampleEveryMs = 200;
/** What is loaded and compiled once is there after so many tests, or after so long. */
const warmUpTests = 3;

export class MemoryWatch {
  readonly #log: TestLog;
  readonly #dumpHeap: (reason: string) => string | undefined;
  #collect: (() => void) | undefined;
  #sampledMs = Number.NEGATIVE_INFINITY;
  #samples = 0;
  #hasEarly = false;

  constructor(log: TestLog, dumpHeap: (reason: string) => string | undefined) {
    this.#log = log;
    this.#dumpHeap = dumpHeap;
  }

  /** After the test of this number. */
  sample(finished: number): void {
    if (finished < warmUpTests || performance.now() - this.#sampledMs < sampleEveryMs) return;
    this.#take(finished);
    if (this.#hasEarly) return;
    this.#hasEarly = true;
    this.#takeHeap('early');
  }

  /** The process ends: what it holds now, if tests ran here. */
  end(): void {
    if (!this.#hasEarly || this.#samples < 2) return;
    this.#take(0);
    this.#takeHeap('late');
  }

  #take(tests: number): void {
    this.#collect ??= exposeCollector();
    this.#collect();
    const { heapUsed, rss, external } = process.memoryUsage();
    const at = new Date().toISOString();
    this.#log.write({
      kind: 'memory',
      at,
      heapUsedBytes: heapUsed,
      rssBytes: rss,
      externalBytes: external,
      tests,
    });
    this.#samples++;
    this.#sampledMs = performance.now();
  }

  #takeHeap(moment: 'early' | 'late'): void {
    const bundle = this.#dumpHeap(
      `leak check: the heap ${moment === 'early' ? 'after the first tests' : 'at the end'}`,
    );
    if (bundle !== undefined) this.#log.write({ kind: 'heap', moment, bundle });
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
