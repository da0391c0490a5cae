/**
 * Estimates the number of distinct strings from a sample. If some occurred twice, by Chao's estimator (A. Chao,
 * "Nonparametric Estimation of the Number of Classes in a Population", 1984, bias-corrected), but at most as if all the
 * strings that each single one stands for were distinct.
 */
const mostKept = 50_000;
const twice = 0;
const moreOften = -1;

export class DistinctStrings {
  /** The weight of a string that occurred once; otherwise `twice` or `moreOften`. */
  readonly #seen = new Map<string, number>();
  /** The total weight of strings for which there was no room. */
  #beyond = 0;

  /** Returns whether the text is new. @param weight how many strings of the whole it stands for, at least 1. */
  see(text: string, weight: number): boolean {
    const known = this.#seen.get(text);
    if (known !== undefined) this.#seen.set(text, known > 0 ? twice : moreOften);
    else if (this.#seen.size < mostKept) this.#seen.set(text, weight);
    else this.#beyond += weight;
    return known === undefined;
  }

  get estimate(): number {
    let once = 0;
    let weight = 0;
    let pairs = 0;
    for (const known of this.#seen.values())
      if (known > 0) {
        once++;
        weight += known;
      } else if (known === twice) pairs++;
    const differ = once === this.#seen.size;
    const unseen = differ ? weight - once : Math.min((once * (once - 1)) / (2 * (pairs + 1)), weight - once);
    return Math.round(this.#seen.size + unseen + this.#beyond);
  }
}
