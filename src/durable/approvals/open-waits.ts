/**
 * What a run currently waits for outside of its steps: answers, signals, times. If it does nothing else, a worker may put it
 * to rest: it is removed from memory, and becomes due again when something arrives.
 */
import { AbortFollower } from '../steps/attempt.ts';
import type { DurableStore, MaybePromise } from '../stores/store.ts';
import { newsOf } from '../stores/store-news.ts';

export interface Found {
  value: unknown;
  /** For a signal: its number among those of its name. */
  slot?: number;
}

export interface OpenWait {
  path: string;
  /** Undefined: no limit. */
  untilMs: number | undefined;
  look: () => MaybePromise<Found | undefined>;
  /** Removes the listeners from the host's signals. */
  end: () => void;
  /** Aborts when the try of the enclosing step is given up. */
  left: AbortController;
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

  /** When the first of them expires. */
  get untilMs(): number | 'never' {
    const times = [...this.#open].flatMap(({ untilMs }) => untilMs ?? []);
    return times.length > 0 ? Math.min(...times) : 'never';
  }

  /** Undefined if its time is over. */
  async hold(wait: OpenWait, calledOff: AbortSignal): Promise<Found | undefined> {
    this.#open.add(wait);
    const follower = new AbortFollower([calledOff, this.#rested.signal, wait.left.signal]);
    const { signal } = follower;
    const news = newsOf(this.#store);
    try {
      return await news.waitFor(this.#runId, wait.look, { signal, untilMs: wait.untilMs });
    } finally {
      follower.end();
      this.#open.delete(wait);
    }
  }

  /** Nothing waits for the result any more. */
  isLeft({ left }: OpenWait): boolean {
    return this.isRested || left.signal.aborted;
  }

  /** Settles like `work`; never settles if the wait is left meanwhile. */
  async unlessLeft<Result>(wait: OpenWait, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      return this.isLeft(wait) ? await never() : result;
    } catch (error) {
      if (this.isLeft(wait)) return never();
      throw error;
    }
  }

  /** Ends the waits within this step, whose try was given up, so that they take nothing from the next try. */
  leaveBelow(path: string): void {
    for (const wait of [...this.#open])
      if (wait.path.startsWith(`${path}/`)) {
        wait.end();
        wait.left.abort();
      }
  }

  /** Ends all waits and returns them, for a last look after the run was released. */
  rest(): OpenWait[] {
    const waits = [...this.#open];
    for (const { end } of waits) end();
    this.#rested.abort();
    return waits;
  }
}

/** Never settles; whatever awaits it is garbage-collected with it. */
export const never = (): Promise<never> => new Promise(() => {});
