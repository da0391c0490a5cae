/**
 * Detects memory that grows while the main thread's loop is blocked. The watchdog's thread sees only the resident memory of
 * the process, not V8's heap, so growth since the main thread last reported its heap is assumed to be heap; the look that
 * follows (look-at-memory.ts) measures it. Only decides: reads nothing and touches no thread.
 */

export interface GrowthLimits {
  /** Of V8's old generation, in bytes. */
  limitBytes: number;
  /** Share of the limit above which growth is of interest. */
  fromShare: number;
  /** Growth between two looks, as a share of the limit. */
  stepShare: number;
}

export interface Growth {
  atMs: number;
  /** Resident memory, in bytes. */
  rss: number;
  /** How often the main thread has answered, and the size of its heap and of the process when it last reported them. */
  answers: number;
  heapBytes: number;
  /** 0 before the first report. */
  toldRss: number;
}

/** Upper bound for the growth of a program, in bytes per millisecond: 0.2 to 0.5 GB per second were measured. */
const fastestFill = 1e6;
const [shortestMs, longestMs] = [40, 1000];
/** Number of polls while the fastest program fills its heap. */
const pollsToFull = 8;
/** A main thread that has not answered within this time is silent. */
const answerMs = 60;
/**
 * While it stays silent it is looked at again after this time, then twice this time and so on: a heap also grows within pages
 * that are already resident, in which collections left room.
 */
const againMs = 700;
const mostLooks = 5;

export class SilentGrowth {
  readonly #limits: GrowthLimits;
  #answers = -1;
  #base = { rss: 0, heapBytes: 0 };
  #askedAt: number | undefined;
  /** Since its last answer. */
  #looks = 0;
  #lookedAt = 0;
  #share = 0;

  constructor(limits: GrowthLimits) {
    this.#limits = limits;
  }

  /** Whether to ask the main thread for a sign of life, or to look at it because it gave none. */
  see({ atMs, rss, answers, heapBytes, toldRss }: Growth): 'ask' | 'look' | 'nothing' {
    const { limitBytes, fromShare, stepShare } = this.#limits;
    if (answers !== this.#answers) {
      this.#answers = answers;
      this.#askedAt = undefined;
      this.#looks = 0;
      // Not the current value: on a busy machine a heap may be full before this thread runs.
      this.looked(toldRss || rss, heapBytes);
    }
    const grown = rss - this.#base.rss;
    this.#share = (this.#base.heapBytes + grown) / limitBytes;
    if (this.#share < fromShare) return 'nothing';
    if (grown < limitBytes * stepShare) return this.#isDueAgain(atMs) ? this.#look(atMs) : 'nothing';
    this.#askedAt ??= atMs;
    if (this.#askedAt === atMs) return 'ask';
    return atMs - this.#askedAt < answerMs ? 'nothing' : this.#look(atMs);
  }

  #isDueAgain(atMs: number): boolean {
    const isLookedAt = this.#looks > 0 && this.#looks < mostLooks;
    return isLookedAt && atMs - this.#lookedAt >= againMs * 2 ** (this.#looks - 1);
  }

  #look(atMs: number): 'look' {
    this.#looks++;
    this.#lookedAt = atMs;
    return 'look';
  }

  /** Growth is counted from here on, because the main thread has just reported. */
  looked(rss: number, heapBytes: number): void {
    this.#base = { rss, heapBytes };
  }

  /** Milliseconds until the next look at the process's memory is worthwhile. */
  get pauseMs(): number {
    const room = this.#limits.limitBytes * Math.max(0, 1 - this.#share);
    return Math.min(longestMs, Math.max(shortestMs, room / fastestFill / pollsToFull));
  }
}
