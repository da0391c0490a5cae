/**
 * Which delivered end has led to the code that is running now, however many unrecorded pauses lie between: the last one whose turn
 * has created the asynchronous resource (a timer, a request) that the code continues, or resolved the promise that it awaits, or one of
 * those before it. So the calls of a loop, or of a queue that does one thing at a time, each led to by the end of the one before, can be
 * told from calls of branches, which began side by side.
 */
import { createHook, executionAsyncId, triggerAsyncId } from 'node:async_hooks';

export class LedBy {
  readonly #ends = new Map<number, number>();
  /** Of the callbacks that are running, the outermost first: code may call some in another context (`AsyncResource.bind`). */
  readonly #running: number[] = [];
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
      before: (id) => {
        const outer = this.#running.at(-1);
        this.#running.push(id);
        if (outer !== undefined) this.#raise(id, this.#endOf(outer));
        // Of code that continues after an await, the trigger is the promise that was awaited.
        this.#raise(id, this.#endOf(triggerAsyncId()));
      },
      after: () => {
        this.#running.pop();
      },
      promiseResolve: (id) => this.#raise(id, this.end),
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
    this.#running.length = 0;
  }

  /** The number of the end; 0 if there was none. */
  get end(): number {
    return this.#driver() || this.#endOf(executionAsyncId());
  }

  #raise(id: number, end: number): void {
    if (end > this.#endOf(id)) this.#ends.set(id, end);
  }

  #endOf(id: number): number {
    return this.#ends.get(id) ?? 0;
  }
}
