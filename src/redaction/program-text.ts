/**
 * Redaction of programs' source. Positions must stay, or every line that a source map tells is wrong: what takes a
 * secret's place has its length and its line breaks. And code is full of names that smell (`tokenKind: E.format`), so a
 * name is believed only within a literal or a comment; shapes and known values go wherever they stand.
 */
import type { Render } from './text-redactor.ts';

/** For the pass that believes names. */
export const renderQuotedOnly: Render = (rule, value, before, isRest) =>
  isText(before) ? mask(rule, value, isRest) : value;

/**
 * Whether what follows stands in a literal or a comment: a quote before it, or one that its line has opened and not closed. A line
 * that is longer than what is seen of it is read as if it began outside of a literal.
 */
function isText(before: string): boolean {
  if (/["'`]$/.test(before)) return true;
  let quote = '';
  for (let i = 0; i < before.length; i++) {
    const character = before[i]!;
    if (character === '\\') i += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"' || character === '`') quote = character;
    else if (character === '/' && (before[i + 1] === '/' || before[i + 1] === '*')) {
      const end = before[i + 1] === '*' ? before.indexOf('*/', i + 2) : -1;
      if (end < 0) return true;
      i = end + 1;
    }
  }
  return quote !== '';
}

/** For the pass over shapes and known values. */
export const renderMasked: Render = (rule, value, _, isRest) => mask(rule, value, isRest);

/** As long as `value`, with its line breaks: `[redacted:rule]` and stars, or stars alone. */
function mask(rule: string, value: string, isRest = false): string {
  const label = `[redacted:${rule}]`;
  if (!isRest && value.length >= label.length && !/[\r\n]/.test(value))
    return label.padEnd(value.length, '*');
  return value.replace(/[^\r\n]/g, '*');
}
