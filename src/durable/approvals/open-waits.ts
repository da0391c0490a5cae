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
  path: string;
  /** Undefined: as long as it takes. */
  untilMs: number | undefined;
  look: () => MaybePromise<Found | undefined>;
  /** Takes the listeners off the host's signals. */
  end: () => void;
  /** Aborts when the try of the step that it stands in was given up. */
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

  /** When the first of them is over by itself. */
  get untilMs(): number | 'never' {
    const times = [...this.#open].flatMap(({ untilMs }) => untilMs ?? []);
    return times.length > 0 ? Math.min(...times) : 'never';
  }

  /** Undefined when its time is over. */
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

  /** Nobody waits any more for what comes. */
  isLeft({ left }: OpenWait): boolean {
    return this.isRested || left.signal.aborted;
  }

  /** As `work` does; of a wait that is left meanwhile it never settles. */
  async unlessLeft<Result>(wait: OpenWait, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      return this.isLeft(wait) ? await never() : result;
    } catch (error) {
      if (this.isLeft(wait)) return never();
      throw error;
    }
  }

  /** What a try of this step waits for that was given up takes nothing from the next one. */
  leaveBelow(path: string): void {
    for (const wait of [...this.#open])
      if (wait.path.startsWith(`${path}/`)) {
        wait.end();
        wait.left.abort();
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
