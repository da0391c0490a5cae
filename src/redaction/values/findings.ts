/**
 * What a policy has withheld so far, as far as it is a secret in any surroundings: the password of a command line also stands
 * in the source that checks it, where nothing tells what it is. Bounded, because a server sees a new token with every request.
 */
import { isExampleWords } from './example-values.ts';
import { looksChosen } from './values.ts';

/** A text is full of such words: `production` is one, however it was found. */
export const isEverydayWord = (value: string): boolean =>
  /^[a-z]{0,8}$/.test(value) || /^[A-Za-z]{0,7}$/.test(value);

const shortest = 8;
/** Of a password with letters and digits, if it is certain to be one. */
const shortestCertain = 6;
const longest = 4096;
/** As many known values as the search is measured with. */
const most = 256;

export class Findings {
  private readonly values = new Set<string>();

  /** True if the value is new and worth looking for. `isCertain`: found under a name that leaves no doubt. */
  note(value: string, isCertain = false): boolean {
    const least = isCertain && /\d/.test(value) && /[A-Za-z]/.test(value) ? shortestCertain : shortest;
    if (value.length < least || value.length > longest || this.values.size >= most) return false;
    if (this.values.has(value) || isExampleWords(value)) return false;
    if (!looksChosen(value, 3) && !(isCertain && !isEverydayWord(value))) return false;
    // A slice would keep the whole text that it comes from.
    this.values.add(JSON.parse(JSON.stringify(value)) as string);
    return true;
  }

  all(): string[] {
    return [...this.values];
  }

  get count(): number {
    return this.values.size;
  }
}
