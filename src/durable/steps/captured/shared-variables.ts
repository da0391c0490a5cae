/**
 * Which of the variables that the calls of one step capture are shared by all of them and change meanwhile, such as a counter of what is
 * done, a list of results or a cache: their values tell when a call was made, not which one it is. Found by asking again what earlier
 * calls have captured: a variable that has changed since and has the same value for all of them is one variable.
 */
import type { Captured, CapturedValues } from './captured.ts';

interface Earlier {
  host: object;
  captured: Captured;
}

/** The first, and as many of the latest: what each branch has of its own has different values in them. */
const mostLatest = 3;

export class SharedVariables {
  readonly names: Set<string>;
  readonly #own = new Set<string>();
  readonly #earlier: Earlier[] = [];

  /** `names`: what earlier processes have found. */
  constructor(names: Iterable<string> = []) {
    this.names = new Set(names);
  }

  /** Returns the names that are found by this call. `ask` tells the present values. */
  note(call: Earlier, values: CapturedValues, ask: (host: object) => CapturedValues | undefined): string[] {
    const { captured } = call;
    const isOpen = (name: string) => !this.names.has(name) && !this.#own.has(name);
    const differing = Object.keys(captured).filter(
      (name) => isOpen(name) && this.#earlier.some((one) => one.captured[name] !== captured[name]),
    );
    const found = differing.length > 0 ? this.#find(differing, values, ask) : [];
    for (const name of found) this.names.add(name);
    this.#earlier.push(call);
    if (this.#earlier.length > 1 + mostLatest) this.#earlier.splice(1, 1);
    return found;
  }

  #find(
    differing: readonly string[],
    values: CapturedValues,
    ask: (host: object) => CapturedValues | undefined,
  ): string[] {
    const now = this.#earlier.map(({ host }) => ask(host));
    return differing.filter((name) => {
      const isShared = now.every((one) => one?.has(name) && Object.is(one.get(name), values.get(name)));
      if (!isShared) this.#own.add(name);
      return isShared;
    });
  }
}
