/**
 * What one kind of credential looks like: how it starts, and what follows. Pure data; shape-table.ts finds them.
 */
export interface Shape {
  /** Name that the placeholder says: lower case, digits and hyphens. */
  rule: string;
  /** At least two characters each, public, kept in the output. Looked for at the start of a word or of its parts. */
  starts: string[];
  /** What must follow; only this is withheld. Every repetition is bounded. */
  body: RegExp;
  /** Only at the start of a word: for starts of few letters. */
  wholeWord?: boolean;
  /** The body must not read like words: for starts that also occur in names. */
  random?: boolean;
}

export function shape(rule: string, starts: string, body: RegExp, options: Partial<Shape> = {}): Shape {
  return { rule, starts: starts.split(' '), body, ...options };
}
