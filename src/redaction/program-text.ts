/**
 * Redaction of programs' source. Positions must stay, or every line that a source map tells is wrong: what takes a
 * secret's place has its length and its line breaks. And code is full of names that smell (`tokenKind: E.format`), so a
 * name is believed only where a quoted text follows it; shapes and known values go wherever they stand.
 */
import type { Render } from './text-redactor.ts';

/** For the pass that believes names. */
export const renderQuotedOnly: Render = (rule, value, before, isRest) =>
  before === "'" || before === '"' || before === '`' ? mask(rule, value, isRest) : value;

/** For the pass over shapes and known values. */
export const renderMasked: Render = (rule, value, _, isRest) => mask(rule, value, isRest);

/** As long as `value`, with its line breaks: `[redacted:rule]` and stars, or stars alone. */
function mask(rule: string, value: string, isRest = false): string {
  const label = `[redacted:${rule}]`;
  if (!isRest && value.length >= label.length && !/[\r\n]/.test(value))
    return label.padEnd(value.length, '*');
  return value.replace(/[^\r\n]/g, '*');
}
