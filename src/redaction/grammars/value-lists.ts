/**
 * Lists as values: `["a", "b"]`, `[x, y]` in YAML and TOML, `[Bearer x]` in Java and Go, `(value)`. Finds the ranges of
 * items, and of bare ones only those that look chosen.
 */
import type { NameVerdict } from '../names/key-names.ts';
import type { NamePlace } from '../names/name-place.ts';
import type { Page } from '../scan/page.ts';
import { isCodePiece } from '../values/program-values.ts';
import { readQuoted, type ValueSpan } from '../values/value-span.ts';
import { looksChosen } from '../values/values.ts';

const flowList = /\[[ ]?(?:[^\s[\]"'`,{}]{6,400},[ ]?){1,40}[^\s[\]"'`,{}]{6,400}[ ]?\]/y;
const bracketed = /\[{1,2}([^\s[\]"'`,]{6,1000}|[A-Za-z-]{3,20} [^\s[\]"'`,]{6,1000})(?=\])/y;
const mostItems = 64;

const asQuoted = (start: number, end: number, close: number): ValueSpan => ({
  start,
  end,
  close,
  quoted: true,
});

/** `=(value)` without quotes, if a parenthesis closes before the sign too. */
export function readParenthesis({ text, units }: Page, at: number, place: NamePlace): ValueSpan | undefined {
  const length = text.slice(at, at + 200).indexOf(')');
  if (length < 0 || units[place.sign - 1] !== 41) return undefined;
  return inParenthesis.test(text.slice(at + 1, at + length))
    ? undefined
    : asQuoted(at + 1, at + length, at + length + 1);
}

/** `(e,t)=>…`, `(r.set(…),x)`: a program's. */
const inParenthesis = /^[\w$]{1,3}(?:,[\w$]{1,3})+$|[\w$]\(/;

/** The strings of the list whose bracket is at `at`. */
export function quotedItems(page: Page, at: number): ValueSpan[] {
  const items: ValueSpan[] = [];
  let i = at + 1;
  while (items.length < mostItems) {
    while (page.units[i] === 44 || (page.units[i]! <= 32 && i < page.length)) i += 1;
    const span = readQuoted(page, i);
    if (!span || span.resume) break;
    items.push(span);
    i = span.close;
  }
  return items;
}

/** `=[Bearer x]` of Java and Go, `[[x]]` of Lua; otherwise the items of `[x, y]` that look chosen. */
export function bareItems(page: Page, at: number, verdict: NameVerdict): ValueSpan[] {
  bracketed.lastIndex = at;
  const value = bracketed.exec(page.text)?.[1];
  const isChosen = verdict.form === 'authorization' || looksChosen(value ?? '', verdict.strength);
  if (value !== undefined && isChosen && !isCodePiece(value)) {
    const end = bracketed.lastIndex;
    return [asQuoted(end - value.length, end, end + 1)];
  }
  flowList.lastIndex = at;
  const list = flowList.exec(page.text)?.[0];
  return [...(list?.matchAll(/[^\s,[\]]+/g) ?? [])]
    .filter(([item]) => looksChosen(item, verdict.strength) && !isCodePiece(item))
    .map(({ index, 0: item }) => asQuoted(at + index, at + index + item.length, at + index + item.length));
}

/** `AUTH_KEYS = ['user', 'pass']`: names of keys, letters only. */
export const isKeysName = ({ text }: Page, { start, end }: ValueSpan, { rule }: NameVerdict): boolean =>
  rule.endsWith('key') && /^[A-Za-z]{2,40}$/.test(text.slice(start, Math.min(end, start + 41)));
