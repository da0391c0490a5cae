/**
 * Calls of a program after its run was cancelled, or can't be recorded any more. Each is refused, so that the program can clean up and
 * end; but a loop that tries again whatever the error is never ends by that, and without a pause nothing else in the process would run.
 */

/** More than a clean-up makes in so long a time, at one place: each of many branches may end by one call. */
const mostInTime = 10;
const timeMs = 1_000;
const most = 1_000;

export class RefusedCalls {
  /** Rejects with the reason once the program won't end by itself. */
  readonly areEndless: Promise<never>;
  readonly #lost: AbortSignal;
  #end: (reason: unknown) => void = () => {};
  #count = 0;
  readonly #places = new WeakMap<object, { count: number; sinceMs: number }>();
  #isOver = false;

  constructor(lost: AbortSignal) {
    this.#lost = lost;
    this.areEndless = new Promise((_, reject) => {
      this.#end = reject;
    });
    this.areEndless.catch(() => {});
  }

  /** At each call. A refused call leaves its branch at its place. True: it must never settle. */
  addCall(place: object): boolean {
    if (this.#isOver || !this.#lost.aborted) return this.#isOver;
    this.#count++;
    const here = this.#places.get(place) ?? { count: 0, sinceMs: performance.now() };
    this.#places.set(place, here);
    const isLong = ++here.count > mostInTime && performance.now() - here.sinceMs > timeMs;
    if (!isLong && this.#count <= most) return false;
    this.#isOver = true;
    this.#end(this.#lost.reason);
    return true;
  }
}
