/** Values of HTTP headers with their own format: authorization with its scheme, cookies with their names. */
import type { NameVerdict } from '../names/key-names.ts';
import type { NamePlace } from '../names/name-place.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isExampleWords, isOfOwner } from '../values/example-values.ts';
import { isFillIn, isStandIn } from '../values/stand-ins.ts';
import { readBare, type ValueSpan } from '../values/value-span.ts';
import { isVariableName } from '../values/values.ts';

/** The limit for a header line. */
export const longestLine = 16_384;

const schemes = /^\s*(?:basic|bearer|token|apikey|api-?key|digest|negotiate|key|secret|sso)\b/i;

/** A value of several fields that extends to the line's end. */
export const isLongAuthorization = (page: Page, at: number, verdict: NameVerdict): boolean =>
  verdict.form === 'authorization' &&
  /^(?:AWS4|Digest|OAuth|Signature|Hawk|MAC|GoogleLogin|SharedKey|FlyV1)/i.test(page.text.slice(at, at + 12));

/** `Bearer x`: a bare value of two words. */
export function includeScheme(page: Page, span: ValueSpan, place: NamePlace): ValueSpan {
  if (page.units[span.end] !== 32 || !/^[A-Za-z][\w-]{2,20}$/.test(page.text.slice(span.start, span.end)))
    return span;
  const rest = readBare(page, span.end + 1, { encoded: place.encoded, wholeLine: false });
  return { ...rest, start: span.start };
}

/** The credential after the scheme; the scheme is kept. */
export function findAuthorization(
  { text }: Page,
  span: ValueSpan,
  value: string,
  quote: string,
): Finding | undefined {
  const scheme = /^\s*(?:[A-Za-z][\w-]{1,30}\s+)/.exec(value)?.[0] ?? '';
  const rest = value.slice(scheme.length);
  if (isFillIn(text, span.start + scheme.length, span.end)) return undefined;
  if (rest.length < 4 || isStandIn(rest) || isVariableName(rest) || /\$\{|\{\{/.test(rest)) return undefined;
  if (scheme === '' && !/\d/.test(rest)) return undefined;
  // A call, or the address of an authorization page.
  if (/^[A-Za-z_$][\w$.]*\(|^https?:\/\/[^@]*$/.test(rest)) return undefined;
  // `'Custom Token="' + token`: the value comes after the string.
  if (/^[A-Za-z_-]+=$/.test(rest)) return undefined;
  // `AWS4-HMAC-SHA256 Credential=ABCDEF/…, ...`: the signature is left out.
  if (/, ?(?:\.{3}|…)$/.test(rest) && !/signature/i.test(rest)) return undefined;
  if (/^(?:new|await|typeof)\s/.test(scheme)) return undefined;
  // `'Invalid Format'`, `'Basic Auth'`, `'Bearer 1.2.3'`
  if (/^\d\.\d\.\d$/.test(rest) || (!/\d/.test(rest) && isExampleWords(rest) && !isOfOwner(rest)))
    return undefined;
  if (/^[A-Z][a-z]{2,8}$/.test(rest) && !/^(?:bearer|token)\s/i.test(scheme)) return undefined;
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

/** `theme=dark`, `lang=en-US`: a common word under a name that grants no access. */
const isSetting = (name: string, value: string): boolean =>
  /^[a-z]{1,10}(?:[-_][A-Za-z]{2,8})?$/.test(value) &&
  !/sess|sid|auth|tok|jwt|sso|user|login|remember|key|secret|pass|id$/i.test(name);

/** What counts visitors: `_ga`, `__utma`, `__cfduid`, `_fbp`, `ajs_anonymous_id`. */
const ofStatistics =
  /^(?:_ga(?:_\w{1,20})?|_gid|_gat\w{0,30}|_gcl_\w{2,6}|__utm[a-z]{1,2}|__cfduid|_fb[cp]|ajs_anonymous_id|_hj\w{2,40})$/;

/** `%E5%8C%97`, `%u5317`: a character of another script, as documentation shows its encoding. */
const escapesOnly = /^(?:%u?[\dA-F]{2,4}){1,4}$/i;

/** Attributes of a cookie, if a whole `Set-Cookie` value is under another name. */
const attributes = /^(?:samesite|path|domain|max-age|expires|priority)$/i;

/** `cookie=function(e){…`, `cookies:{`, `cookie=e.cookie||x`: program code. */
const codeStart = /^(?:=|function\b|[({[!]|void\b|new\b|[\w$.]+\(|[\w$]+=>|[\w$.]+\|\||\d,[\w$.]+=[\w$]+\.)/;

/** The value of each cookie. Names are kept, and so are the attributes of a cookie that is being set. */
export function findCookies(page: Page, span: ValueSpan, isOne: boolean): Finding[] {
  const value = page.text.slice(span.start, Math.min(span.end, span.start + longestLine));
  if (!span.quoted && codeStart.test(value)) return [];
  const pairs = /([^=;\s]{1,128})=([^;]*)/g;
  const found: Finding[] = [];
  for (let match = pairs.exec(value); match; match = pairs.exec(value)) {
    const start = span.start + match.index + match[1]!.length + 1;
    const text = match[2]!.trimEnd();
    const isOpen = text.startsWith('${') || escapesOnly.test(text) || ofStatistics.test(match[1]!);
    if (!isOpen && !isStandIn(text) && !attributes.test(match[1]!) && !isSetting(match[1]!, text))
      found.push({ start, end: start + text.length, rule: 'cookie' });
    if (isOne) break;
  }
  return found;
}
