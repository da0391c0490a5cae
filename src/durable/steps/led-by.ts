/**
 * Which delivered end has led to the code that is running now, however many unrecorded pauses lie between: the last one whose turn
 * has created the asynchronous resource (a promise, a timer) that the code continues, or one of those before it. So the calls of
 * a loop, each led to by the end of the one before, can be told from calls of branches, which began side by side.
 */
import { createHook, executionAsyncId } from 'node:async_hooks';

export class LedBy {
  readonly #ends = new Map<number, number>();
  readonly #driver: () => number;
  readonly #hook: ReturnType<typeof createHook>;

  /** `driver`: the number of the end whose delivery has woken the running code; 0 if something else has. */
  constructor(driver: () => number) {
    this.#driver = driver;
    this.#hook = createHook({
      init: (id) => {
        const { end } = this;
        if (end > 0) this.#ends.set(id, end);
      },
      destroy: (id) => {
        this.#ends.delete(id);
      },
    });
  }

  begin(): void {
    this.#hook.enable();
  }

  finish(): void {
    this.#hook.disable();
    this.#ends.clear();
  }

  /** The number of the end; 0 if there was none. */
  get end(): number {
    return this.#driver() || (this.#ends.get(executionAsyncId()) ?? 0);
  }
}
