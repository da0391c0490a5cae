/** What a format puts behind a name: `printf("user=%s password=%s", "app", "x")`, `log("password: {}", "x")`. */
import type { Page } from '../scan/page.ts';
import { readQuoted, type ValueSpan } from '../values/value-span.ts';
import { nextArgument } from './key-arguments.ts';

const place = /(?:%[svq]|\{\d?\})(?![\w"'`]{0,1}\w)/y;
const places = /%[sdvq]|\{\d?\}/g;
/** Between the format and its arguments: a comma, Python's operator or method, a blank in a shell. */
const between = /\s{0,4}(?:[,%]\s{0,2}\(?|\)?\.format\()\s{0,20}|[ ]{1,4}/y;
const longestFormat = 160;

/** The literal for the place at `at`, which is within another literal; undefined if there is no place. */
export function formattedValue(page: Page, at: number): ValueSpan | undefined {
  const { text, units } = page;
  if (units[at] !== 37 && units[at] !== 123) return undefined;
  place.lastIndex = at;
  if (!place.test(text)) return undefined;
  const open = quoteBefore(units, at);
  const close = open < 0 ? -1 : text.slice(0, at + longestFormat).indexOf(text[open]!, at);
  if (close < 0 || text.slice(at, close).includes('\n')) return undefined;
  between.lastIndex = close + 1;
  if (!between.test(text)) return undefined;
  let from = between.lastIndex;
  const index = text.slice(open, at).match(places)?.length ?? 0;
  for (let i = 0; i < index; i++) {
    const literal = readQuoted(page, from);
    const isShell = literal && units[literal.close] === 32;
    from = isShell ? literal.close : nextArgument(page, from);
    if (from === 0) return undefined;
    while (units[from] === 32) from += 1;
  }
  return readQuoted(page, from);
}

/** The quote that opens the literal around `at`, in its line, or -1. */
function quoteBefore(units: Uint16Array, at: number): number {
  for (let i = at - 1; i >= 0 && at - i < longestFormat && units[i] !== 10; i--)
    if (units[i] === 34 || units[i] === 39 || units[i] === 96) return i;
  return -1;
}
