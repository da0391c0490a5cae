/**
 * The text above the frames: name, code and message of the error, and the excerpt that Node prints above them on a fatal
 * error (file and line, the code, a row of carets). All of it is optional: a thrown string has none of it.
 */
import { parsePosition } from './location.ts';

export interface HeaderFacts {
  name?: string;
  /** As in `TypeError [ERR_INVALID_ARG_TYPE]: …`. */
  code?: string;
  message?: string;
}

/** The excerpt above a fatal error. */
export interface ThrowSite {
  file: string;
  /** 1-based. */
  line: number;
  code: string;
  /** 1-based column of the first caret in the excerpt's own text: Node truncates nothing, but a tab counts as one. */
  caretColumn: number;
}

const longestExcerpt = 20;
const caretRow = /^[ \t]*[\^~][\^~ \t]*$/;

/** Parses an excerpt at the start of `lines`; `next` is the index of the first line after it and its blank lines. */
export function readThrowSite(lines: readonly string[]): { site: ThrowSite; next: number } | undefined {
  let first = 0;
  while (first < 3 && lines[first]?.trim() === '') first++;
  const place = parsePosition(lines[first]?.trimEnd() ?? '');
  if (!place || place.column !== undefined) return undefined;
  const last = Math.min(lines.length, first + longestExcerpt);
  for (let row = first + 1; row < last; row++) {
    const text = lines[row] ?? '';
    if (text.length > 20_000 || !caretRow.test(text)) continue;
    let next = row + 1;
    while (next < lines.length && lines[next]?.trim() === '') next++;
    const caretColumn = text.search(/[\^~]/) + 1;
    const code = lines.slice(first + 1, row).join('\n');
    return { site: { file: place.file, line: place.line, code, caretColumn }, next };
  }
  return undefined;
}

/** Name, code and message from a header whose first line is `Name [CODE]: message`. */
export function readHeader(header: string): HeaderFacts {
  const text = header.replace(/^(?:\(node:\d{1,9}\) )?(?:Uncaught:?\s)?\[?(?=\S)/, '');
  const end = nameEnd(text);
  if (end === 0) return text ? { message: text } : {};
  const name = text.slice(0, end);
  const code = /^ \[([A-Za-z0-9_.-]{1,100})\]/.exec(text.slice(end, end + 110));
  const rest = text.slice(end + (code?.[0].length ?? 0));
  if (rest !== '' && !rest.startsWith(':') && !rest.startsWith('\n')) return { message: text };
  const message = rest.replace(/^:? ?/, '');
  return { name, ...(code?.[1] ? { code: code[1] } : {}), ...(message ? { message } : {}) };
}

/** Length of the class name at the start of the text; names are identifiers, possibly with dots. */
function nameEnd(text: string): number {
  let at = 0;
  while (at < text.length && at < 200 && /[\p{ID_Continue}$.]/u.test(text[at] ?? '')) at++;
  return at;
}
