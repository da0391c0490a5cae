/**
 * Waits within this process for something to arrive in a store: woken by the store's notifications if it has any, and in any
 * case after a pause, because notifications may be missed. All waits share one watch of the store, which exists as long as
 * there are waits.
 */
import { ownPause } from '../steps/own-pause.ts';
import type { DurableStore, MaybePromise } from './store.ts';

/** Polling intervals: for a store with notifications, and for one without. */
const lookEveryMs = { told: 1_000, untold: 100 };

const known = new WeakMap<DurableStore, StoreNews>();

export function newsOf(store: DurableStore): StoreNews {
  let news = known.get(store);
  if (!news) {
    news = new StoreNews(store);
    known.set(store, news);
  }
  return news;
}

export class StoreNews {
  readonly #store: DurableStore;
  readonly #listeners = new Map<() => void, string | undefined>();
  #unwatch: (() => void) | undefined;

  constructor(store: DurableStore) {
    this.#store = store;
  }

  /** Calls `wake` for news of this run, or of any run, until the returned function is called. */
  listen(runId: string | undefined, wake: () => void): () => void {
    this.#listeners.set(wake, runId);
    this.#unwatch ??= this.#store.watch?.((told) => this.#tell(told));
    return () => {
      this.#listeners.delete(wake);
      if (this.#listeners.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = undefined;
    };
  }

  /**
   * Returns what `look` finds: called now, at news of the run, and after each pause. Undefined once `untilMs` has passed.
   * Throws the signal's reason.
   */
  async waitFor<Found>(
    runId: string,
    look: () => MaybePromise<Found | undefined>,
    { signal, untilMs = Number.POSITIVE_INFINITY }: { signal: AbortSignal; untilMs?: number | undefined },
  ): Promise<Found | undefined> {
    const everyMs = this.#store.watch ? lookEveryMs.told : lookEveryMs.untold;
    let isNews = false;
    let pause = new AbortController();
    const wake = () => {
      isNews = true;
      pause.abort();
    };
    const unlisten = this.listen(runId, wake);
    signal.addEventListener('abort', wake);
    try {
      for (;;) {
        isNews = false;
        const found = await look();
        if (found !== undefined) return found;
        signal.throwIfAborted();
        const leftMs = untilMs - Date.now();
        if (leftMs <= 0) return undefined;
        if (isNews) continue;
        pause = new AbortController();
        await ownPause(Math.min(everyMs, leftMs), pause.signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      unlisten();
    }
  }

  #tell(runId: string | undefined): void {
    for (const [wake, wanted] of [...this.#listeners])
      if (runId === undefined || wanted === undefined || wanted === runId) wake();
  }
}
