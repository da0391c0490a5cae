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
/**
 * While it stays silent it is looked at again after so long, twice so long and so on: a heap also grows in pages that are
 * resident already, where collections have left room.
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

  /** Whether the main thread is to be asked for a sign of life, or to be looked at because it gave none. */
  see({ atMs, rss, answers, heapBytes, toldRss }: Growth): 'ask' | 'look' | 'nothing' {
    const { limitBytes, fromShare, stepShare } = this.#limits;
    if (answers !== this.#answers) {
      this.#answers = answers;
      this.#askedAt = undefined;
      this.#looks = 0;
      // Not what it is now: on a busy machine a heap may be full before this thread has its turn.
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
