/**
 * Work of frameworks that report start and end but provide no asynchronous context. While exactly one of their runs is open,
 * events outside of every context are attributed to it; with two or more, they are not attributed.
 */
import type { AgentScope } from './scope.ts';

/** Runs above this number are not tracked, and then no run is considered the only one. */
const limit = 10_000;

export class OpenWork {
  readonly #runs = new Map<string, Set<string>>();
  #isFull = false;

  openRun(run: string): void {
    if (this.#runs.size < limit) this.#runs.set(run, new Set());
    else this.#isFull = true;
  }

  closeRun(run: string): void {
    this.#runs.delete(run);
  }

  openStep(run: string, step: string): void {
    const steps = this.#runs.get(run);
    if (steps && steps.size < limit) steps.add(step);
    else this.#isFull = this.#isFull || steps !== undefined;
  }

  closeStep(run: string, step: string): void {
    this.#runs.get(run)?.delete(step);
  }

  /** The only open run, with its only open step. */
  only(): AgentScope | undefined {
    if (this.#isFull || this.#runs.size !== 1) return undefined;
    for (const [run, steps] of this.#runs) {
      if (steps.size !== 1) return { run };
      for (const step of steps) return { run, step };
    }
    return undefined;
  }
}
