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
  const all = starts.split(' ');
  if (!starts.includes('/')) return { rule, starts: all, body, ...options };
  const escaped = all.map((start) => start.replaceAll('/', '\\/'));
  return { rule, starts: [...all, ...escaped], body: withEscapedSlashes(body), ...options };
}

/** JSON may write `\/` for a slash, as PHP does: wherever `body` has a slash, backslashes may precede it. */
const withEscapedSlashes = ({ source, flags }: RegExp): RegExp =>
  new RegExp(
    source
      .replace(/\[([^\]]*)(?<!\\)\/([^\]]*)\]/g, (_, before, after) => `(?:[${before}${after}]|\\/)`)
      .replace(/\\\//g, String.raw`\\{0,3}\/`),
    flags,
  );
