/** Workers that die at random records, one after the other: each loses all its runs at once, as a process would. */
import type { WorkerOptions } from '../../../src/durable/dispatch/worker-options.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { startWorker, type Worker } from '../../../src/durable/worker.ts';
import { crashingStore, isCrash } from './crashing-store.ts';

export interface MortalWishes extends Omit<WorkerOptions, 'store' | 'onEnd' | 'everyMs'> {
  store: DurableStore;
  random: () => number;
  /** How many of them die; the one after them does not. */
  deaths: number;
}

export class MortalWorkers {
  readonly #wishes: MortalWishes;
  #worker: Worker | undefined;
  #isStopped = false;
  lives = 0;

  constructor(wishes: MortalWishes) {
    this.#wishes = wishes;
    this.#begin();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#worker?.stop();
  }

  #begin(): void {
    const { store, random, deaths, ...options } = this.#wishes;
    const life = this.lives++;
    const at = 1 + Math.floor(random() * (3 + life * 3));
    const mine =
      life < deaths ? crashingStore(store, at, random() < 0.5 ? 'before' : 'after', random() < 0.3) : store;
    this.#worker = startWorker({
      ...options,
      store: mine,
      everyMs: 15,
      onEnd: (_, error) => {
        if (isCrash(error) && life === this.lives - 1 && !this.#isStopped) this.#replace();
      },
    });
  }

  #replace(): void {
    void this.#worker?.stop();
    this.#begin();
  }
}
