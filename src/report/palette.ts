/** The colours of the text report, by meaning. The command line passes real ones; a file gets none. */

export type Paint = (text: string) => string;

export interface Palette {
  /** Headings and what should be read first. */
  strong: Paint;
  /** Details for completeness. */
  faint: Paint;
  /** A death, an alarm. */
  bad: Paint;
  /** A notice, a gap. */
  warn: Paint;
  /** Nothing died; what is in order. */
  good: Paint;
  /** Places in the program's own code. */
  place: Paint;
}

const asItIs: Paint = (text) => text;

export const plainPalette: Palette = {
  strong: asItIs,
  faint: asItIs,
  bad: asItIs,
  warn: asItIs,
  good: asItIs,
  place: asItIs,
};
