/**
 * A stretch of text under the detectors' eyes: the string for regular expressions, its code units for loops (a typed
 * array is read at the same speed on every Node, `charCodeAt` is not). And what a detector finds in it.
 */
export interface Page {
  text: string;
  /** Code units of the text, then zeros. */
  units: Uint16Array;
  length: number;
  /** Where the next `-----END ` stands, once looked for; the page's length when nowhere. */
  nextEnd: number;
}

/** A stretch to be replaced: half-open, in code units of the page. */
export interface Finding {
  start: number;
  end: number;
  rule: string;
  /** Put on both sides of the placeholder, where a bare number must become a string. */
  quote?: string | undefined;
  /** The page ended before the secret did: how to find its end in the next. */
  resume?: ((page: Page, from: number) => number) | undefined;
}

/** Zeros behind the text, so that loops may look ahead without a check. */
const lookAhead = 16;

/** Keeps one array for all its pages: a page is valid until the next is made. */
export class PageMaker {
  private units = new Uint16Array(0);

  make(text: string): Page {
    const { length } = text;
    if (this.units.length < length + lookAhead) this.grow(length + lookAhead);
    // Buffer's own write is faster, but a program may have replaced it, and what it does not write is not looked through.
    for (let i = 0; i < length; i++) this.units[i] = text.charCodeAt(i);
    this.units.fill(0, length, length + lookAhead);
    return { text, units: this.units, length, nextEnd: -1 };
  }

  private grow(units: number): void {
    this.units = new Uint16Array(Math.max(1024, 2 ** Math.ceil(Math.log2(units))));
  }
}
