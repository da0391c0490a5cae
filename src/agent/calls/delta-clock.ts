/**
 * Schedules the writing of streaming calls: all of them together, in one system call, a short while after the first of them
 * had something to write. A stream of single tokens thus does not cost a record per token, many streams cost little more than
 * one, and everything that arrived is on disk within 100 ms.
 */

import { PassingSet } from '../record/passing-set.ts';
import { startOwnTimer } from '../taps/own-timer.ts';
import { ours } from '../taps/own-work.ts';

export interface Streaming {
  /** Writes into the journal's buffer. */
  writeDelta(): void;
}

/** In a busy event loop the timer fires some milliseconds late. */
const intervalMs = 80;

export class DeltaClock {
  readonly #waiting = new PassingSet<Streaming>();
  #isRunning = false;
  readonly #flush: () => void;

  /** `flush` passes the buffered data to the kernel. */
  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** Registers a call that has something to write. */
  add(one: Streaming): void {
    this.#waiting.add(one);
    if (this.#isRunning) return;
    this.#isRunning = true;
    startOwnTimer(() => this.#write(), intervalMs);
  }

  /** Unregisters a call that has ended and has written everything. */
  delete(one: Streaming): void {
    this.#waiting.delete(one);
  }

  #write(): void {
    this.#isRunning = false;
    // Each by itself: one that failed would keep the others from ever being due again.
    for (const one of this.#waiting) ours(() => one.writeDelta());
    this.#waiting.clear();
    this.#flush();
  }
}
