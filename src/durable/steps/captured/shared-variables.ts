/**
 * Which of the variables that the calls of one step capture are shared by all of them and change meanwhile, such as a counter of what is
 * done, a list of results or a cache: their values tell when a call was made, not which one it is. Found by asking again what the calls
 * that are still open have captured, which are of other branches: a variable that has changed since and has the same value for all of them
 * is one variable.
 */
import type { Captured, CapturedValues, CapturingHost } from './captured.ts';

export interface CapturingCall extends CapturingHost {
  captured: Captured;
}

/** What each branch has of its own has different values in so many. */
const mostOpen = 4;

export class SharedVariables {
  readonly names: Set<string>;
  /** What each of the calls that were open at the same time had for itself. */
  readonly own = new Set<string>();
  #open: CapturingCall[] = [];

  /** `names`: what earlier processes have found. */
  constructor(names: Iterable<string> = []) {
    this.names = new Set(names);
  }

  /** Returns the names that are found by this call. `ask` tells the present values. */
  note(
    call: CapturingCall,
    values: CapturedValues,
    ask: (call: CapturingHost) => CapturedValues | undefined,
  ): string[] {
    const { captured } = call;
    const isOpen = (name: string) => !this.names.has(name) && !this.own.has(name);
    const differing = Object.keys(captured).filter(
      (name) => isOpen(name) && this.#open.some((one) => one.captured[name] !== captured[name]),
    );
    const found = differing.length > 0 ? this.#find(differing, values, ask) : [];
    for (const name of found) this.names.add(name);
    this.#open.push(call);
    if (this.#open.length > mostOpen) this.#open.shift();
    return found;
  }

  end(call: CapturingCall): void {
    this.#open = this.#open.filter((one) => one !== call);
  }

  #find(
    differing: readonly string[],
    values: CapturedValues,
    ask: (call: CapturingHost) => CapturedValues | undefined,
  ): string[] {
    const now = this.#open.map((one) => ask(one));
    return differing.filter((name) => {
      const isShared = now.every((one) => one?.has(name) && Object.is(one.get(name), values.get(name)));
      if (!isShared) this.own.add(name);
      return isShared;
    });
  }
}
