/**
 * Steps of a given average, for samples of a list. Not each of the same length: objects are made in turns, and would be met
 * in turns. Not Math.random, which may be the host's. The same steps in every run.
 */
export class Chance {
  readonly #average: number;
  #state = 0x2545f491;

  constructor(average: number) {
    this.#average = average;
  }

  /** From 1 to twice the average less one; xorshift32 (G. Marsaglia, "Xorshift RNGs", 2003). */
  step(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    this.#state = state ^= state << 5;
    return 1 + ((state >>> 0) % (2 * this.#average - 1));
  }
}
