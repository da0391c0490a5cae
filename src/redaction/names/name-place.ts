/** The position of a name that a value may follow: passed from the scanner to the readers of values. */

/** A name in the text and the sign after it; half-open ranges. */
export interface NamePlace {
  start: number;
  end: number;
  /** The first unit of the sign, and the first one after it. */
  sign: number;
  behind: number;
  /** The sign is percent-encoded. */
  encoded: boolean;
}
