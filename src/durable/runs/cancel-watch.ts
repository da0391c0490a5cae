/**
 * Watches whether the current run is cancelled from outside: at once for a run that was started before, and from one second
 * on at notifications and every two seconds.
 */

import type { RecordCodec } from '../records/codec.ts';
import type { DurableStore } from '../stores/store.ts';
import { newsOf } from '../stores/store-news.ts';
import { CancelError, type Cancellation, cancelKey } from './calls-from-outside.ts';
import type { RunLog } from './run-log.ts';

const firstMs = 1_000;
const everyMs = 2_000;

/** The run that is watched. */
export interface Cancellable {
  readonly id: string;
  readonly store: DurableStore;
  readonly log: RunLog;
  readonly codec: RecordCodec;
  readonly lost: AbortController;
  readonly hasAnswers: boolean;
}

export class CancelWatch {
  readonly #run: Cancellable;
  #timer: NodeJS.Timeout | undefined;
  #unlisten = () => {};
  #isOver = false;

  constructor(run: Cancellable) {
    this.#run = run;
  }

  async begin(): Promise<void> {
    const { log, store, id, hasAnswers } = this.#run;
    if (log.name !== undefined && hasAnswers) await this.#look();
    if (this.#isOver) return;
    // Most new runs end earlier than this.
    this.#timer = setTimeout(() => {
      this.#unlisten = newsOf(store).listen(id, () => void this.#look());
      void this.#look();
      this.#timer = setInterval(() => void this.#look(), everyMs).unref();
    }, firstMs).unref();
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#unlisten();
  }

  /** An unavailable store, or a cancellation that can't be read, cancels nothing. */
  async #look(): Promise<void> {
    const { store, id, codec, lost } = this.#run;
    try {
      const payload = await store.findAnswer(id, cancelKey);
      if (!payload || this.#isOver) return;
      const word = codec.decode(payload).readValue() as Cancellation | undefined;
      lost.abort(new CancelError(id, word?.reason));
      this.end();
    } catch {
      // The next look retries.
    }
  }
}
