/**
 * Calls of a program after its run was cancelled, or can't be recorded any more. Each is refused, so that the program can clean up and
 * end; but a loop that tries again whatever the error is never ends by that, and without a pause nothing else in the process would run.
 */

/** More than a clean-up makes in so long a time. */
const mostInTime = 10;
const timeMs = 1_000;
const most = 1_000;

export class RefusedCalls {
  /** Rejects with the reason once the program won't end by itself. */
  readonly areEndless: Promise<never>;
  readonly #lost: AbortSignal;
  #end: (reason: unknown) => void = () => {};
  #count = 0;
  #sinceMs = 0;
  #isOver = false;

  constructor(lost: AbortSignal) {
    this.#lost = lost;
    this.areEndless = new Promise((_, reject) => {
      this.#end = reject;
    });
    this.areEndless.catch(() => {});
  }

  /** At each call. True: it must never settle. */
  addCall(): boolean {
    if (this.#isOver || !this.#lost.aborted) return this.#isOver;
    if (this.#count === 0) this.#sinceMs = performance.now();
    this.#count++;
    const isLong = this.#count > mostInTime && performance.now() - this.#sinceMs > timeMs;
    if (!isLong && this.#count <= most) return false;
    this.#isOver = true;
    this.#end(this.#lost.reason);
    return true;
  }
}
