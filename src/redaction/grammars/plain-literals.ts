/** Values under a sensitive name that only repeat the name, begin a longer text, or name an event. */
import type { NamePlace } from '../names/name-place.ts';
import type { Page } from '../scan/page.ts';
import { looksRandom } from '../values/randomness.ts';
import type { ValueSpan } from '../values/value-span.ts';
import type { ValueForm } from '../values/values.ts';
import { isLiteralOfProgram } from './program-line.ts';

/** `InvalidToken = "invalid_token"`, `this.passphrase = passphrase`: the value only repeats the name. */
export function repeatsName({ text }: Page, { start, end }: NamePlace, value: string): boolean {
  const plain = (words: string): string => words.replace(/[^A-Za-z\d]+/g, '').toLowerCase();
  const name = plain(text.slice(start, end));
  // `sessionAuth: config?.sessionAuth`
  if (name.length >= 8 && /^[A-Za-z_$][\w$]*(?:\??\.[\w$]+)+$/.test(value) && plain(value).endsWith(name))
    return true;
  // `ChangePassword = "users_change_password"`
  if (
    name.length >= 12 &&
    /^[^A-Za-z]{0,4}[A-Za-z]+(?:[-_.:/][A-Za-z]+)+$/.test(value) &&
    plain(value).endsWith(name)
  )
    return true;
  // `REFERRER_PATH_STORAGE_KEY="referrerPath"`
  if (/^[a-z]{3,}[A-Z][a-z]+$/.test(value) && name.startsWith(plain(value))) return true;
  if (start < 0 || value.length > end - start + 4) return false;
  return value.length >= 8 ? name.endsWith(plain(value)) : name === plain(value);
}

/** `'p256ecdsa=' + publicKey`: the value comes after the string; `"no-referrer" | "origin"`: one of several, in a type. */
export const isStartOfMore = (page: Page, place: NamePlace, span: ValueSpan, value: string): boolean =>
  (/^[\w-]{1,40}=$/.test(value) && /^["'`]\s{0,20}\+/.test(page.text.slice(span.end, span.end + 24))) ||
  (/^[A-Za-z][\w-]{2,39}$/.test(value) &&
    otherType.test(page.text.slice(span.end, span.end + 100)) &&
    (!/\d/.test(value) || /[-_]/.test(value)) &&
    !looksRandom(value, 8) &&
    isLiteralOfProgram(page, place, span));
/** Not in a log whose fields have bars between them: `"password": "x" | "user": "bob"`. */
const otherType = /^["'`]\s{0,20}\|\s{0,20}(["'`])[\w-]{1,50}\1(?!\s{0,3}[:=])/;

/** `'token:error:renew'`: a whole literal of plain words. */
export const isEventName = (page: Page, place: NamePlace, span: ValueSpan, value: string): boolean =>
  place.end === place.sign &&
  (isPermission(page, place, span, value) ||
    ((page.units[place.start - 1] === 39 || page.units[place.start - 1] === 96) &&
      page.units[span.end] === page.units[place.start - 1] &&
      /^[a-z]{2,16}(?::[a-z]{2,16})+$/.test(value)));

/** `'widgets:api-keys:manage'`: a whole literal again, that ends with what somebody may do. */
const isPermission = ({ text }: Page, { start }: NamePlace, { end }: ValueSpan, value: string): boolean =>
  /^(?:read|write|manage|create|update|delete|edit|list|view|revoke|rotate)$/.test(value) &&
  /(["'`])(?:[a-z][\w-]{0,30}[:.]){0,3}$/.exec(text.slice(Math.max(0, start - 100), start))?.[1] ===
    text[end];

/** `case 'private key':`, `type === 'recovery' ? 'PASSWORD_RECOVERY' : 'SIGNED_IN'`: a literal before a colon that is no name. */
export const isNoName = ({ text, units }: Page, { start, end, behind }: NamePlace): boolean =>
  // `${PG_PASSWORD:?missing}`
  (units[behind] === 63 && text.startsWith('${', start - 2)) ||
  // Not `isOpen ? 'password: x' : ''`: the literal ends with the name.
  (/^\\*["'`]/.test(text.slice(end, end + 9)) &&
    /(?:\bcase ?|[^\s?]\s{1,40}\? |[=!]==?\\*["'`][\w-]{1,40}\\*["'`]\?)\\*["'`](?:[\w-]{1,30} ){0,3}$/.test(
      text.slice(Math.max(0, start - 80), start),
    )) ||
  isOutcome(text, start, end);

/** `{"pass": "…", "fail": "…"}`: what a check says of its results. */
const isOutcome = (text: string, start: number, end: number): boolean =>
  end - start === 4 &&
  text.startsWith('pass', start) &&
  otherOutcome.test(text.slice(Math.max(0, start - 200), end + 400));
const otherOutcome = /["'](?:fail(?:ed|ure)?|incomplete|inapplicable)["']\s?:/;

/** `exports.ER_PASSWORD_NO_MATCH = 1133;`: the number of a message. */
export const isMessageNumber = (
  { text }: Page,
  { start }: NamePlace,
  span: ValueSpan,
  { quoted, tight, next }: ValueForm,
): boolean =>
  !quoted &&
  !tight &&
  next === 59 &&
  /\bexports\.$/.test(text.slice(Math.max(0, start - 16), start)) &&
  /^\d{1,6}$/.test(text.slice(span.start, Math.min(span.end, span.start + 8)));

/**
 * `badge.svg?token=x`, `master.svg?style=shield&circle-token=x`: shows a state to everybody who reads the page. Other images may
 * be private.
 */
export const isOnBadge = ({ text }: Page, { start }: NamePlace): boolean =>
  /(?:\bbadges?\b[^\s"'`()<>]{0,60}\.svg\?|\.svg\?style=[\w-]{1,30}&)(?:[\w=-]{1,30}&){0,3}$/.test(
    text.slice(Math.max(0, start - 160), start),
  );

/** The name of the package that is shown: `secret: 'grant'` in a text that loads `grant`. */
export function namesPackage({ text }: Page, { start }: NamePlace, value: string): boolean {
  if (!/^[a-z][a-z-]{2,30}$/.test(value)) return false;
  const around = text.slice(Math.max(0, start - 4000), start + 4000);
  for (const [, loaded] of around.matchAll(loads)) if (loaded === value) return true;
  return false;
}
const loads = /\b(?:require\(|from )["']([a-z-]{3,31})["']/g;

/** `username: 'user3', password: 'user3'` */
export const repeatsUser = ({ text }: Page, { start }: NamePlace, value: string): boolean =>
  /^[a-z]+[-_]?\d{0,3}$/i.test(value) &&
  userBefore.exec(text.slice(Math.max(0, start - 120), start))?.[1] === value;
const userBefore =
  /\buser(?:name)?\s?[:=]\s?["'`]([^"'`\n]{1,60})["'`][,;]?\s{1,20}(?:[\w.]{1,30}\.|const |let |var )?$/i;

/** `read -s -p "Password: " PASS`: the quote at `at` closes a string that opened before the name. */
export function closesPrompt({ text, units }: Page, { start, behind }: NamePlace, at: number): boolean {
  if (units[at] !== 34 || units[at + 1] !== 32 || at === behind) return false;
  const line = text.slice(Math.max(text.lastIndexOf('\n', start) + 1, start - 200), at);
  return !line.includes('\\') && (line.match(/"/g) ?? []).length % 2 === 1;
}
