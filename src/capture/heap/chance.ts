/**
 * Random steps of a given average, for sampling a list. Steps of constant length would be biased, because objects are created
 * in repeating patterns. Does not use Math.random, which the host may have replaced. The steps are the same in every run.
 */
export class Chance {
  readonly #average: number;
  #state = 0x2545f491;

  constructor(average: number) {
    this.#average = average;
  }

  /** Between 1 and twice the average minus one; xorshift32 (G. Marsaglia, "Xorshift RNGs", 2003). */
  step(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    this.#state = state ^= state << 5;
    return 1 + ((state >>> 0) % (2 * this.#average - 1));
  }
}
