/**
 * When the calls that stream are written: all of them together, in one system call, a short while after the first of them
 * had something to say. So a stream of single tokens costs no record each, many streams cost little more than one, and what
 * came is on the disk within 100 ms.
 */

export interface Streaming {
  /** Into the buffer of the journal. */
  writeDelta(): void;
}

/** The timer of a loop with other work is late by some milliseconds. */
const intervalMs = 80;
/** A host's tests may put a clock of their own in its place. */
const { setTimeout: startTimer } = globalThis;

export class DeltaClock {
  readonly #waiting = new Set<Streaming>();
  #isRunning = false;
  readonly #write = (): void => {
    this.#isRunning = false;
    for (const one of this.#waiting) one.writeDelta();
    this.#waiting.clear();
    this.#flush();
  };
  readonly #flush: () => void;

  /** `flush` hands what is buffered to the kernel. */
  constructor(flush: () => void) {
    this.#flush = flush;
  }

  /** It has something to write. */
  add(one: Streaming): void {
    this.#waiting.add(one);
    if (this.#isRunning) return;
    this.#isRunning = true;
    startTimer(this.#write, intervalMs).unref();
  }

  /** It has ended, and has written it. */
  delete(one: Streaming): void {
    this.#waiting.delete(one);
  }
}
