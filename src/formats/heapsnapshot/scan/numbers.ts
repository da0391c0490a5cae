/**
 * The slow paths of the number scanners: white space, missing commas, numbers with more than nine digits, the end of the
 * window. The fast paths are inside the loops of node-records.ts and edge-records.ts. Every window is followed by a NUL byte,
 * which is part of no number, so that the loops need no bounds check.
 */
import { MalformedInput } from '../../../errors.ts';
import { formatName } from '../layout.ts';

export const Byte = {
  nul: 0,
  tab: 9,
  newline: 10,
  carriageReturn: 13,
  space: 32,
  quote: 34,
  comma: 44,
  zero: 48,
  colon: 58,
  openBracket: 91,
  backslash: 92,
  closeBracket: 93,
  openBrace: 123,
  closeBrace: 125,
} as const;

/** Results for what follows a number, other than a comma. */
export const incomplete = -1;
export const closed = -2;

export function isSpace(byte: number | undefined): boolean {
  return byte === Byte.space || byte === Byte.newline || byte === Byte.carriageReturn || byte === Byte.tab;
}

/** Position of the first byte at or after `at` that is not white space; `end` if there is none. */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

/** The digits [from, to) as a double. Throws if a double can't represent the number exactly. */
export function readLongNumber(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + (bytes[at]! - Byte.zero);
  if (value > Number.MAX_SAFE_INTEGER || to - from > 20)
    throw new MalformedInput('not a heap snapshot: a number above 2^53', {
      format: formatName,
      field: 'number',
      wanted: 'an integer below 2^53',
    });
  return value;
}

/**
 * Parses what follows a number: white space, then a comma (returns the position after it), a closing bracket (returns
 * `closed`), or the end of the window (returns `incomplete`). Throws for anything else.
 */
export function afterNumber(bytes: Uint8Array, at: number, end: number, section: string): number {
  const next = skipSpace(bytes, at, end);
  if (next >= end) return incomplete;
  if (bytes[next] === Byte.comma) return next + 1;
  if (bytes[next] === Byte.closeBracket) return closed;
  throw unexpected(bytes, next, section);
}

/** Position of the first digit of the next number, or `incomplete`. */
export function beforeNumber(bytes: Uint8Array, at: number, end: number, section: string): number {
  const next = skipSpace(bytes, at, end);
  if (next >= end) return incomplete;
  if ((bytes[next]! - Byte.zero) >>> 0 > 9) throw unexpected(bytes, next, section);
  return next;
}

export function unexpected(bytes: Uint8Array, at: number, section: string): MalformedInput {
  const found = JSON.stringify(String.fromCharCode(bytes[at] ?? 0));
  return new MalformedInput(`not a heap snapshot: ${found} among the numbers of "${section}"`, {
    format: formatName,
    field: section,
    wanted: 'integers between commas',
    available: found,
  });
}
