/**
 * A stretch of text to be searched: the string for regular expressions, its code units for loops (a typed array is equally
 * fast on every Node, `charCodeAt` is not), and what a detector found in it.
 */
export interface Page {
  text: string;
  /** Code units of the text, then zeros. */
  units: Uint16Array;
  length: number;
  /** Position of the next `-----END `, once it was searched for; the page's length if there is none. */
  nextEnd: number;
}

/** A stretch to be replaced: half-open, in code units of the page. */
export interface Finding {
  start: number;
  end: number;
  rule: string;
  /** Written on both sides of the placeholder if a bare number must become a string. */
  quote?: string | undefined;
  /** The page ended before the secret: finds its end in the next page. */
  resume?: ((page: Page, from: number) => number) | undefined;
}

/** Of a pair in a list of users. Its values are not looked for elsewhere, because only the form of the list tells what they are. */
export const userListRule = 'user-list';

/** Zeros after the text, so that loops can look ahead without a bounds check. */
const lookAhead = 16;

/**
 * Node's own copy function for UTF-16, forty times as fast as a loop. Captured when this file is loaded:
 * `Buffer.prototype.write` calls the current property, which a program may have replaced, and text that is not copied would
 * not be searched.
 */
const { ucs2Write } = Buffer.prototype as {
  ucs2Write?: (this: Uint8Array, text: string, offset: number, bytes: number) => number;
};
/** For shorter texts the call costs more than the loop. */
const worthCalling = 64;

/** Reuses one array for all its pages: a page is valid until the next one is made. */
export class PageMaker {
  private units: Uint16Array<ArrayBuffer>;
  private bytes: Uint8Array;

  /** `units`: the first array to be used. */
  constructor(units = new Uint16Array(0)) {
    this.units = units;
    this.bytes = new Uint8Array(units.buffer, units.byteOffset, units.byteLength);
  }

  make(text: string): Page {
    const { length } = text;
    if (this.units.length < length + lookAhead) this.grow(length + lookAhead);
    if (length < worthCalling || !this.isCopied(text))
      for (let i = 0; i < length; i++) this.units[i] = text.charCodeAt(i);
    this.units.fill(0, length, length + lookAhead);
    return { text, units: this.units, length, nextEnd: -1 };
  }

  /** False if the copy function is missing, was replaced, or uses another byte order. */
  private isCopied(text: string): boolean {
    const { units, bytes } = this;
    const last = text.length - 1;
    units[last] = ~text.charCodeAt(last);
    return (
      ucs2Write !== undefined &&
      ucs2Write.call(bytes, text, 0, 2 * text.length) === 2 * text.length &&
      units[0] === text.charCodeAt(0) &&
      units[last] === text.charCodeAt(last)
    );
  }

  private grow(units: number): void {
    this.units = new Uint16Array(Math.max(1024, 2 ** Math.ceil(Math.log2(units))));
    this.bytes = new Uint8Array(this.units.buffer);
  }
}
