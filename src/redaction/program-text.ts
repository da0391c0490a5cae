/**
 * Redacts program source. Positions must be preserved, or all line numbers from a source map are wrong, so a replacement has
 * the length and the line breaks of the secret. Code is full of sensitive-looking names (`tokenKind: E.format`), so names
 * only count within a literal or a comment; shapes and known values are replaced everywhere.
 */
import type { Render } from './text-redactor.ts';

/** For the pass that uses names as context. */
export const renderQuotedOnly: Render = (rule, value, before, isRest) =>
  isText(before) ? mask(rule, value, isRest) : value;

/**
 * Whether the text after `before` is in a literal or a comment: it follows a quote, or one that was opened and not closed in
 * its line. If the line is longer than `before`, it is assumed to start outside a literal.
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

/** As long as `value`, with its line breaks: `[redacted:rule]` and stars, or only stars. */
function mask(rule: string, value: string, isRest = false): string {
  const label = `[redacted:${rule}]`;
  if (!isRest && value.length >= label.length && !/[\r\n]/.test(value))
    return label.padEnd(value.length, '*');
  return value.replace(/[^\r\n]/g, '*');
}
