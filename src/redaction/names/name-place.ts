/** Where a name stands that a value may follow: what the scanner hands to the readers of values. */

/** A name in the text and the sign behind it; half-open extents. */
export interface NamePlace {
  start: number;
  end: number;
  /** The first unit of the sign, and the first behind it. */
  sign: number;
  behind: number;
  /** The sign is percent-encoded. */
  encoded: boolean;
}
