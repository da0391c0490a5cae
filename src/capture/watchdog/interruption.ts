/**
 * While the watchdog has this thread evaluate something, the program may stand in an `Atomics.wait`, which V8 has interrupted for
 * that. V8 has one place per thread in its list of waits: with a second wait the program's leaves the list, and ends with `ok`
 * although nobody has notified it (seen once on Node 24). So nothing may wait then, and this spins.
 */
export class Interruption {
  readonly #cells: Int32Array;
  #isOn = false;

  constructor(cells: Int32Array) {
    this.#cells = cells;
  }

  during<Value>(work: () => Value): Value {
    this.#isOn = true;
    try {
      return work();
    } finally {
      this.#isOn = false;
    }
  }

  /** Blocks while the cell has this value; false if it still has it after `ms`. */
  awaitChange(at: number, value: number, ms: number): boolean {
    if (!this.#isOn) return Atomics.wait(this.#cells, at, value, ms) !== 'timed-out';
    const until = performance.now() + ms;
    while (Atomics.load(this.#cells, at) === value) if (performance.now() > until) return false;
    return true;
  }
}
