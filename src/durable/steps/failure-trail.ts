/**
 * Which steps' failure ended a run: those that threw the very error, or a cause of it; or, when the host threw another
 * one without a cause, the step that had failed last, if none has returned since. These are tried again when the run is
 * taken up; the failures that the host has dealt with stay as they are.
 */
const longestChain = 20;

export class FailureTrail {
  readonly #stepsOf = new WeakMap<object, number[]>();
  #last: { error: unknown; steps: number[] } | undefined;

  /** `error` was thrown by the step, or went through it. */
  note(error: unknown, step: number): void {
    const known = this.#last && this.#last.error === error ? this.#last.steps : [];
    const steps = [
      ...new Set([...known, ...(isObject(error) ? (this.#stepsOf.get(error) ?? []) : []), step]),
    ];
    if (isObject(error)) this.#stepsOf.set(error, steps);
    this.#last = { error, steps };
  }

  /** A step has returned: what failed before it was dealt with. */
  forget(): void {
    this.#last = undefined;
  }

  stepsOf(error: unknown): number[] {
    const steps = new Set<number>();
    let link = error;
    for (let depth = 0; depth < longestChain && isObject(link); depth++) {
      for (const step of this.#stepsOf.get(link) ?? []) steps.add(step);
      link = (link as { cause?: unknown }).cause;
    }
    return steps.size > 0 ? [...steps] : (this.#last?.steps ?? []);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
