/** The colours that the text report asks for, by meaning. The command line hands in real ones; a file gets none. */

export type Paint = (text: string) => string;

export interface Palette {
  /** Headings and what should be read first. */
  strong: Paint;
  /** What is there for completeness. */
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
