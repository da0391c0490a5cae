/**
 * What one kind of credential looks like: its start and what follows. Pure data; searched by shape-table.ts.
 */
export interface Shape {
  /** Name in the placeholder: lower case, digits and hyphens. */
  rule: string;
  /** At least two characters each; public, and kept in the output. Matched at the start of a word or of its parts. */
  starts: string[];
  /** What must follow; only this part is withheld. Every repetition is bounded. */
  body: RegExp;
  /** Matches only at the start of a word: for starts of few letters. */
  wholeWord?: boolean;
  /** The body must not look like words: for starts that also occur in names. */
  random?: boolean;
  /** What looks like this is public all the same. */
  isPublic?: (body: string) => boolean;
}

export function shape(rule: string, starts: string, body: RegExp, options: Partial<Shape> = {}): Shape {
  return { rule, starts: starts.split(' '), body, ...options };
}
