/** Values of the HTTP headers that have a form of their own: authorisation with its scheme, cookies with their names. */
import type { Finding, Page } from '../scan/page.ts';
import type { ValueSpan } from '../values/value-span.ts';
import { isFillIn, isStandIn } from '../values/values.ts';

/** No header is longer. */
export const longestLine = 16_384;

const schemes = /^\s*(?:basic|bearer|token|apikey|api-?key|digest|negotiate|key|secret|sso)\b/i;

/** The credential behind the scheme, which stays. */
export function findAuthorization(
  { text }: Page,
  span: ValueSpan,
  value: string,
  quote: string,
): Finding | undefined {
  const scheme = /^\s*(?:[A-Za-z][\w-]{1,30}\s+)/.exec(value)?.[0] ?? '';
  const rest = value.slice(scheme.length);
  if (isFillIn(text, span.start + scheme.length, span.end)) return undefined;
  if (rest.length < 4 || isStandIn(rest) || /\$\{|\{\{/.test(rest)) return undefined;
  if (scheme === '' && !/\d/.test(rest)) return undefined;
  if (/^(?:new|await|typeof)\s/.test(scheme)) return undefined;
  // `authorization: user roles`, in a comment.
  if (quote === '' && /^\s*[a-z]{3,}\s/.test(scheme) && !schemes.test(scheme) && !/[\d=]/.test(rest))
    return undefined;
  if (scheme !== '' && /\s/.test(rest) && !/[=,]/.test(rest)) return undefined;
  return {
    start: span.start + scheme.length,
    end: span.end,
    rule: 'authorization',
    quote,
    resume: span.resume,
  };
}

/** `theme=dark`, `lang=en-US`: a word that anyone may choose, under a name that does not let in. */
const isSetting = (name: string, value: string): boolean =>
  /^[a-z]{1,10}(?:[-_][A-Za-z]{2,8})?$/.test(value) &&
  !/sess|sid|auth|tok|jwt|sso|user|login|remember|key|secret|pass|id$/i.test(name);

/** A cookie's own, when a whole `Set-Cookie` stands under another name. */
const attributes = /^(?:samesite|path|domain|max-age|expires|priority)$/i;

/** Each cookie's value; names stay, and the attributes of a cookie that is being set. */
export function findCookies(page: Page, span: ValueSpan, isOne: boolean): Finding[] {
  const value = page.text.slice(span.start, Math.min(span.end, span.start + longestLine));
  const pairs = /([^=;\s]{1,128})=([^;]*)/g;
  const found: Finding[] = [];
  for (let match = pairs.exec(value); match; match = pairs.exec(value)) {
    const start = span.start + match.index + match[1]!.length + 1;
    const text = match[2]!.trimEnd();
    if (!isStandIn(text) && !attributes.test(match[1]!) && !isSetting(match[1]!, text))
      found.push({ start, end: start + text.length, rule: 'cookie' });
    if (isOne) break;
  }
  return found;
}
