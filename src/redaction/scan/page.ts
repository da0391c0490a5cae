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

/**
 * Node's own copier of UTF-16, forty times as fast as a loop. Kept from the moment this file is loaded: `Buffer.prototype.write`
 * calls what stands in its place now, which a program may have replaced, and what is not copied is not looked through.
 */
const { ucs2Write } = Buffer.prototype as {
  ucs2Write?: (this: Uint8Array, text: string, offset: number, bytes: number) => number;
};
/** Below it the call costs more than the loop. */
const worthCalling = 64;

/** Keeps one array for all its pages: a page is valid until the next is made. */
export class PageMaker {
  private units = new Uint16Array(0);
  private bytes = new Uint8Array(0);

  make(text: string): Page {
    const { length } = text;
    if (this.units.length < length + lookAhead) this.grow(length + lookAhead);
    if (length < worthCalling || !this.isCopied(text))
      for (let i = 0; i < length; i++) this.units[i] = text.charCodeAt(i);
    this.units.fill(0, length, length + lookAhead);
    return { text, units: this.units, length, nextEnd: -1 };
  }

  /** False where the copier is missing, replaced, or of the other order of bytes. */
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
