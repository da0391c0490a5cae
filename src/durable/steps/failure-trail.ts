/**
 * Which steps caused the failure of a run: those that threw the same error, or one of its causes; or, if the host threw
 * another error without a cause, the step that failed last, unless one has returned since. These are retried when the run is
 * resumed; failures that the host has handled are not.
 */
const longestChain = 20;

export class FailureTrail {
  readonly #stepsOf = new WeakMap<object, number[]>();
  #last: { error: unknown; steps: number[] } | undefined;

  /** `error` was thrown by the step, or passed through it. */
  note(error: unknown, step: number): void {
    const known = this.#last && this.#last.error === error ? this.#last.steps : [];
    const steps = [
      ...new Set([...known, ...(isObject(error) ? (this.#stepsOf.get(error) ?? []) : []), step]),
    ];
    if (isObject(error)) this.#stepsOf.set(error, steps);
    this.#last = { error, steps };
  }

  /** A step has returned, so the earlier failures were handled. */
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
