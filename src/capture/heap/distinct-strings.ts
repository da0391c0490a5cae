/**
 * How many distinct strings there are in all, of which a sample was seen. Where some came twice, by Chao's estimate (A. Chao,
 * "Nonparametric Estimation of the Number of Classes in a Population", 1984, bias-corrected); but no more than if each
 * that came once were alone in the part of the whole that it stands for.
 */
const mostKept = 50_000;
const twice = 0;
const moreOften = -1;

export class DistinctStrings {
  /** What a string stands for that came once; else how often it came. */
  readonly #seen = new Map<string, number>();
  /** What those stand for that there was no room for. */
  #beyond = 0;

  /** @param weight of how many of the whole it is one, at least 1. Whether it is new. */
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
