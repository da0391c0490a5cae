/**
 * One try of a step under its limits: ends at the latest when its time is over or it is called off, although the host's
 * function may go on behind it. Knows no record.
 */

import { ownPause } from './own-pause.ts';

/** Signals of one step, made only when somebody asks: most steps have no limit. */
export class StepLimits {
  readonly #timeoutMs: number | undefined;
  readonly #outer: AbortSignal[];
  #controller: AbortController | undefined;

  constructor(timeoutMs: number | undefined, signals: readonly (AbortSignal | undefined)[]) {
    this.#timeoutMs = timeoutMs;
    this.#outer = signals.filter((signal) => signal !== undefined);
  }

  get isLimited(): boolean {
    return this.#timeoutMs !== undefined || this.#outer.length > 0;
  }

  /** Somebody outside has called it off; a time that is over is no such thing. */
  get isCalledOff(): boolean {
    return this.#outer.some(({ aborted }) => aborted);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Throws the reason when it is called off already. */
  requireWanted(): void {
    for (const signal of this.#outer) signal.throwIfAborted();
  }

  /** Resolves or rejects as `work` does, or rejects with the reason for which its signal was aborted. */
  async hold<Result>(work: () => Result): Promise<Awaited<Result>> {
    this.requireWanted();
    const controller = new AbortController();
    this.#controller = controller;
    const undo = this.#watch(controller);
    const aborted = new Promise<never>((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
    });
    aborted.catch(() => {});
    try {
      const result = work();
      // A function that is given up may still fail later: nobody waits for it then.
      if (result instanceof Promise) result.catch(() => {});
      return await Promise.race([result, aborted]);
    } finally {
      undo();
    }
  }

  #watch(controller: AbortController): () => void {
    const { signal: inner } = controller;
    for (const outer of this.#outer)
      outer.addEventListener('abort', () => controller.abort(outer.reason), { once: true, signal: inner });
    const timer =
      this.#timeoutMs === undefined
        ? undefined
        : setTimeout(() => controller.abort(timeoutError(this.#timeoutMs)), this.#timeoutMs);
    return () => clearTimeout(timer);
  }
}

function timeoutError(afterMs: number | undefined): Error {
  return new DOMException(`The step took longer than ${afterMs} ms`, 'TimeoutError');
}

/** Resolves after the pause; rejects with the reason of the first signal that aborts. */
export function pause(ms: number, limits: StepLimits): Promise<void> {
  return limits.hold(() => ownPause(ms));
}
