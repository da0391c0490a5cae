/**
 * What a run waits for at this moment outside of its steps: answers, signals, times. While that is all, a worker may put it to
 * rest: it leaves the memory, and whatever comes makes it due again.
 */
import { AbortFollower } from '../steps/attempt.ts';
import type { DurableStore, MaybePromise } from '../stores/store.ts';
import { newsOf } from '../stores/store-news.ts';

export interface Found {
  value: unknown;
  /** Of a signal: which of its name. */
  slot?: number;
}

export interface OpenWait {
  /** Undefined: as long as it takes. */
  untilMs: number | undefined;
  look: () => MaybePromise<Found | undefined>;
  /** Takes the listeners off the host's signals. */
  end: () => void;
}

export class OpenWaits {
  readonly #store: DurableStore;
  readonly #runId: string;
  readonly #open = new Set<OpenWait>();
  readonly #rested = new AbortController();

  constructor(store: DurableStore, runId: string) {
    this.#store = store;
    this.#runId = runId;
  }

  get count(): number {
    return this.#open.size;
  }

  get isRested(): boolean {
    return this.#rested.signal.aborted;
  }

  /** When the first of them is over by itself. */
  get untilMs(): number | 'never' {
    const times = [...this.#open].flatMap(({ untilMs }) => untilMs ?? []);
    return times.length > 0 ? Math.min(...times) : 'never';
  }

  /** Undefined when its time is over. */
  async hold(wait: OpenWait, calledOff: AbortSignal): Promise<Found | undefined> {
    this.#open.add(wait);
    const follower = new AbortFollower([calledOff, this.#rested.signal]);
    const { signal } = follower;
    const news = newsOf(this.#store);
    try {
      return await news.waitFor(this.#runId, wait.look, { signal, untilMs: wait.untilMs });
    } finally {
      follower.end();
      this.#open.delete(wait);
    }
  }

  /** As `work` does; of a run that is put to rest meanwhile it never settles. */
  async unlessRested<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      return this.isRested ? await never() : result;
    } catch (error) {
      if (this.isRested) return never();
      throw error;
    }
  }

  /** What is waited for now, for a last look after the run was let go. */
  rest(): OpenWait[] {
    const waits = [...this.#open];
    for (const { end } of waits) end();
    this.#rested.abort();
    return waits;
  }
}

/** Settled by nobody: what waits for it is forgotten with it. */
export const never = (): Promise<never> => new Promise(() => {});
