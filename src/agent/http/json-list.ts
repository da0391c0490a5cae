/**
 * Finds a list among the top-level fields of a JSON object, and where each of its elements ends, without parsing the
 * elements. Works on UTF-8 bytes: no byte of a multi-byte character equals a bracket or a quote. Knows nothing of the
 * contents of the list. Source: RFC 8259.
 */

/** Offsets into the bytes. */
export interface JsonList {
  field: string;
  /** Just after the opening bracket. */
  start: number;
  /** Just after each element. */
  ends: number[];
  /** At the closing bracket. */
  close: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * The first top-level field with one of these names that is a list; undefined if there is none, or if it is not a JSON
 * object.
 */
export function findList(bytes: Buffer, fields: ReadonlySet<string>): JsonList | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== openBrace) return undefined;
  for (;;) {
    at = skipSpace(bytes, at + 1);
    if (bytes[at] !== quote) return undefined;
    const nameEnd = skipString(bytes, at);
    const field = bytes.toString('latin1', at + 1, nameEnd - 1);
    // Skips the colon.
    at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    if (bytes[at] === openBracket && fields.has(field)) return readElements(bytes, field, at + 1, [], at + 1);
    at = skipSpace(bytes, skipValue(bytes, at));
    if (bytes[at] !== comma) return undefined;
  }
}

/**
 * Reads the rest of a list whose elements before `at` are known. `at` is just after an element, or after the opening bracket.
 */
export function readElements(
  bytes: Buffer,
  field: string,
  start: number,
  ends: number[],
  at: number,
): JsonList | undefined {
  for (let next = skipSpace(bytes, at); ; next = skipSpace(bytes, next)) {
    if (bytes[next] === closeBracket) return { field, start, ends, close: next };
    if (ends.length) {
      if (bytes[next] !== comma) return undefined;
      next = skipSpace(bytes, next + 1);
    }
    const end = skipValue(bytes, next);
    if (end === next) return undefined;
    ends.push(end);
    next = end;
  }
}

function skipSpace(bytes: Buffer, at: number): number {
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** The offset after the string whose opening quote is at `at`; the end of the bytes if it is unterminated. */
function skipString(bytes: Buffer, at: number): number {
  for (let from = at + 1; ; ) {
    const end = bytes.indexOf(quote, from);
    if (end === -1) return bytes.length;
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
    from = end + 1;
  }
}

/** The offset after the value at `at`. Counts brackets instead of recursing, so deep nesting is harmless. */
function skipValue(bytes: Buffer, at: number): number {
  let depth = 0;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === quote) at = skipString(bytes, at);
    else if (byte === openBrace || byte === openBracket) {
      depth++;
      at++;
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (byte === comma && depth === 0) return at;
    else {
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
  return at;
}
