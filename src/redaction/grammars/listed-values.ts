/** A quoted name, a comma and a quoted value: raw headers and argument lists. */
import type { NameVerdict } from '../names/key-names.ts';
import type { NameBook } from '../names/name-book.ts';
import type { NamePlace } from '../names/name-place.ts';
import { keyQuote } from '../names/name-surroundings.ts';
import type { Page } from '../scan/page.ts';
import { isExampleWords } from '../values/example-values.ts';
import { isInvented, isPassphrase, isPhraseOfWords } from '../values/plain-words.ts';
import { readQuoted, type ValueSpan } from '../values/value-span.ts';
import { looksChosen } from '../values/values.ts';

/** The value after the name at `place`, whose comma is at `place.sign`. Undefined where the two don't belong together. */
export function listedValue(
  page: Page,
  place: NamePlace,
  verdict: NameVerdict,
  names: NameBook,
): ValueSpan | undefined {
  const { text, units } = page;
  // `"https://host/oauth2/token", "x"`
  if (units[place.start - 1] === 47) return undefined;
  // `"x": derive("private-key"),`
  if (/[)\]]/.test(text.slice(place.end, place.sign))) return undefined;
  // Unquoted names only in the notation of Erlang and Lisp: `{password, "x"}`.
  if (keyQuote(page, place) === '' && units[place.start - 1] !== 123) return undefined;
  // `"passphrase": "Passphrase", "ca": …`: a value, and the next name.
  if (/[:=]\s{0,8}\\*["'`]$/.test(text.slice(Math.max(0, place.start - 16), place.start))) return undefined;
  let at = place.behind;
  while (at < page.length && units[at]! <= 32 && at - place.behind < 40) at += 1;
  if (/[bNru]/.test(text[at] ?? '')) at += 1;
  const span = readQuoted(page, at);
  // `"my-auth" -> "myAuth", "123schema" -> …`: the next of several pairs.
  if (!span || /^\s?(?:->|=>|→)/.test(text.slice(span.close, span.close + 4))) return undefined;
  const value = text.slice(span.start, Math.min(span.end, span.start + 300));
  const name = text.slice(place.start, place.end);
  // `"[-token", "]-token"`: a list of names. Not `"token", "Zk3Jd9token"`.
  if (value.startsWith(name) || (value.endsWith(name) && !/\d/.test(value.slice(0, -name.length))))
    return undefined;
  if (verdict.form && verdict.form !== 'phrase') return span;
  if (verdict.form === 'phrase' && /\s/.test(value)) return span;
  if (names.judge(value).strength > 1) return undefined;
  const isTold =
    looksChosen(value, verdict.strength) ||
    (verdict.rule === 'password' &&
      isFallback(page, place.start) &&
      !isExampleWords(value) &&
      (isPhraseOfWords(value, 0.3) || isInvented(value) || isPassphrase(value)));
  return isTold ? span : undefined;
}

/** `os.environ.get("FTP_PASSWORD", "x")`, `getenv('X', 'y')`, `define('DB_PASSWORD', 'x')`: the value of a setting. */
const isFallback = ({ text }: Page, start: number): boolean =>
  settingCall.test(text.slice(Math.max(0, start - 40), start));
const settingCall = /(?:getenv|environ(?:\.get)?|\benv|config|fetch|define)\s?\(\s{0,4}\\*["']$/i;
