/**
 * Memory that grows while the main thread's loop stands still: seen by the watchdog's thread in the process's resident
 * memory, which says nothing of V8's heap. So what has been added since the main thread last told its heap is taken for
 * heap, and whoever looks then (look-at-memory.ts) tells better. Decides only; reads nothing and touches no thread.
 */

export interface GrowthLimits {
  /** Of V8's old generation, in bytes. */
  limitBytes: number;
  /** Share of the limit from which on growth is of interest. */
  fromShare: number;
  /** Growth between two looks, as a share of the limit. */
  stepShare: number;
}

export interface Growth {
  atMs: number;
  /** Resident memory, in bytes. */
  rss: number;
  /** How often the main thread has answered, and how full its heap and how large the process was when it last told. */
  answers: number;
  heapBytes: number;
  /** 0 before it has told anything. */
  toldRss: number;
}

/** What no program fills faster, in bytes a millisecond: seen 0.2 to 0.5 GB a second. */
const fastestFill = 1e6;
const [shortestMs, longestMs] = [40, 1000];
/** So many polls happen while the fastest program fills its heap. */
const pollsToFull = 8;
/** A main thread that has not answered by then is silent. */
const answerMs = 60;

export class SilentGrowth {
  readonly #limits: GrowthLimits;
  #answers = -1;
  #base = { rss: 0, heapBytes: 0 };
  #askedAt: number | undefined;
  #share = 0;

  constructor(limits: GrowthLimits) {
    this.#limits = limits;
  }

  /** Whether the main thread is to be asked for a sign of life, or to be looked at because it gave none. */
  see({ atMs, rss, answers, heapBytes, toldRss }: Growth): 'ask' | 'look' | 'nothing' {
    const { limitBytes, fromShare, stepShare } = this.#limits;
    if (answers !== this.#answers) {
      this.#answers = answers;
      this.#askedAt = undefined;
      // Not what it is now: on a busy machine a heap may be full before this thread has its turn.
      this.looked(toldRss || rss, heapBytes);
    }
    const grown = rss - this.#base.rss;
    this.#share = (this.#base.heapBytes + grown) / limitBytes;
    if (grown < limitBytes * stepShare || this.#share < fromShare) return 'nothing';
    this.#askedAt ??= atMs;
    if (this.#askedAt === atMs) return 'ask';
    return atMs - this.#askedAt < answerMs ? 'nothing' : 'look';
  }

  /** Growth is counted from here on: the main thread has just told. */
  looked(rss: number, heapBytes: number): void {
    this.#base = { rss, heapBytes };
  }

  /** Milliseconds until it is worth another look at the process's memory. */
  get pauseMs(): number {
    const room = this.#limits.limitBytes * Math.max(0, 1 - this.#share);
    return Math.min(longestMs, Math.max(shortestMs, room / fastestFill / pollsToFull));
  }
}
