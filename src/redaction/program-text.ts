/**
 * Redacts program source. Positions must be preserved, or all line numbers from a source map are wrong, so a replacement has
 * the length and the line breaks of the secret. Code is full of sensitive-looking names (`tokenKind: E.format`), so names
 * only count within a literal or a comment; shapes and known values are replaced everywhere.
 */
import { isText } from './grammars/program-line.ts';
import type { Render } from './text-redactor.ts';

/** For the pass that uses names as context. */
export const renderQuotedOnly: Render = (rule, value, before, isRest) =>
  isText(before) ? mask(rule, value, isRest) : value;

/** For the pass over shapes and known values. */
export const renderMasked: Render = (rule, value, _, isRest) => mask(rule, value, isRest);

/** As long as `value`, with its line breaks: `[redacted:rule]` and stars, or only stars. */
function mask(rule: string, value: string, isRest = false): string {
  const label = `[redacted:${rule}]`;
  if (!isRest && value.length >= label.length && !/[\r\n]/.test(value))
    return label.padEnd(value.length, '*');
  return value.replace(/[^\r\n]/g, '*');
}
