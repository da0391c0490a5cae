/** Values of the HTTP headers that have a form of their own: authorisation with its scheme, cookies with their names. */
import type { Finding, Page } from './page.ts';
import type { ValueSpan } from './value-span.ts';
import { isStandIn } from './values.ts';

/** No header is longer. */
export const longestLine = 16_384;

/** The credential behind the scheme, which stays. */
export function findAuthorization(span: ValueSpan, value: string, quote: string): Finding | undefined {
  const scheme = /^\s*(?:[A-Za-z][\w-]{1,30}\s+)/.exec(value)?.[0] ?? '';
  const rest = value.slice(scheme.length);
  if (rest.length < 4 || isStandIn(rest) || /\$\{|\{\{/.test(rest)) return undefined;
  if (scheme === '' && !/\d/.test(rest)) return undefined;
  if (scheme !== '' && /\s/.test(rest) && !/[=,]/.test(rest)) return undefined;
  return {
    start: span.start + scheme.length,
    end: span.end,
    rule: 'authorization',
    quote,
    resume: span.resume,
  };
}

/** Each cookie's value; names stay, and the attributes of a cookie that is being set. */
export function findCookies(page: Page, span: ValueSpan, isSetting: boolean): Finding[] {
  const value = page.text.slice(span.start, Math.min(span.end, span.start + longestLine));
  const pairs = /([^=;\s]{1,128})=([^;]*)/g;
  const found: Finding[] = [];
  for (let match = pairs.exec(value); match; match = pairs.exec(value)) {
    const start = span.start + match.index + match[1]!.length + 1;
    const text = match[2]!.trimEnd();
    if (!isStandIn(text)) found.push({ start, end: start + text.length, rule: 'cookie' });
    if (isSetting) break;
  }
  return found;
}
