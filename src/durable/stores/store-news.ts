/**
 * Who waits in this process for something to come into a store: woken by the store's news where it has any, and after a
 * pause in any case, because news may be missed. One watch of the store for all, while anybody waits.
 */
import { ownPause } from '../steps/own-pause.ts';
import type { DurableStore, MaybePromise } from './store.ts';

/** A store that tells is looked at this often, one that does not is looked at more often. */
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

  /** Calls `wake` at news of this run, or of any; until the returned function is called. */
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
   * What `look` finds: looked for now, at news of the run, and after each pause; undefined when `untilMs` has come.
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
