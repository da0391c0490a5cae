/**
 * Work of frameworks that report start and end but give no asynchronous context. While exactly one of their runs is
 * open, what is seen outside of every context belongs to it; with two, nothing is guessed.
 */
import type { AgentScope } from './scope.ts';

/** More that never end are not counted: then none is the only one. */
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
