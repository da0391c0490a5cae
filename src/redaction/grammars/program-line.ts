/**
 * Distinguishes program source from a setting, a log or prose by the text around a value. In a program an unquoted value is
 * an expression, whatever it looks like: `secret: round1Secret,`, `Key: s3location.s3path + name`.
 */
import type { NamePlace } from '../names/name-place.ts';
import type { Page } from '../scan/page.ts';
import { isDrawnLetters } from '../values/randomness.ts';

/** How much text is examined on each side of a value. */
const reach = 400;

const signs = [
  /=>\s?[\w({[]/,
  /\b(?:const|let|var) (?:[\w$]+\s?[=:;,]|[{[])/,
  /\bfunction\b[ *]?[\w$]*\s?\(/,
  /\);\s/,
  /[=!]==/,
  /[\w)\]]\[['"\w]/,
  /\bthis\.[a-zA-Z_#]/,
  /\breturn\b(?: [\w({['"`!]|;)/,
  /^\s*(?:import|export) (?:[\w*{]|default)/m,
  /\b(?:interface|class|enum|namespace) \w+ ?[{<]/,
  /\bnew [A-Z][\w.]*\(/,
  /\b(?:private|public|readonly|static|async|declare) \w/,
  /[\w)\]'"];\s*$/m,
  /^\s*\/\*\*|^\s*\*\/|^\s*\/\/ /m,
];
/** This many signs are no coincidence. */
const enough = 3;

/** What can only follow an expression. */
const goesOn = /\s{0,40}(?:[,;)\]}]|\.[a-z]|(?:[-+*/?&|=!<>]{1,3}|as|in|of|instanceof)\s)/y;
/** A name or a member path. Three digits in a row are more likely in a password. */
const reference = /^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::)#?[A-Za-z_$][\w$]*)*[;,]?$/;

/** The bare value at `span` is an expression or a type in program source. */
export function isProgramsOwn(page: Page, place: NamePlace, span: { start: number; end: number }): boolean {
  const { text, units } = page;
  // `secret?: V1Projection`, `token!: Token`: followed by a type.
  const mark = units[place.sign - 1];
  if (units[place.sign] === 58 && (mark === 63 || mark === 33) && /^[A-Za-z({[]/.test(text[span.start]!))
    return true;
  // `case kinds.secret:`
  if (
    units[place.sign] === 58 &&
    /\bcase [\w$.]*$/.test(text.slice(Math.max(0, place.start - 60), place.start))
  )
    return true;
  // `type Token = XToken`, `keys.map(key => key.name)`
  if (declaresType(page, place)) return true;
  if (units[place.sign] === 61 && units[place.sign + 1] === 62 && units[place.start - 1] === 40) return true;
  const value = text.slice(span.start, Math.min(span.end, span.start + 200));
  if (!reference.test(value) || /\d{3}/.test(value) || isDrawnLetters(value.replace(/[^A-Za-z]+/g, '')))
    return false;
  // `'Server=db;password=trombone77xx;'`: a setting within a literal of a program.
  if (units[place.sign] === 61 && span.start === place.behind && isText(lineBefore(page, place.start)))
    return false;
  goesOn.lastIndex = /[;,]$/.test(value) ? span.end - 1 : span.end;
  if (!goesOn.test(text)) return false;
  return signsAround(page, place, span) >= enough;
}

/** `export type SecretKind = "webhook"`: what follows are types, quoted or not. Prose writes neither of `type password="x"` so. */
export const declaresType = ({ text, units }: Page, { start, end, sign }: NamePlace): boolean =>
  units[sign] === 61 &&
  /[A-Z]/.test(text[start] ?? '') &&
  !/\s\w+$/.test(text.slice(start, end)) &&
  typeBefore.test(text.slice(Math.max(0, start - 60), start));
const typeBefore = /(?:^|[\n;{}`]|\\n)[ \t]{0,40}(?:export |declare ){0,2}type $/;

/**
 * Whether the text after `before` is in a literal or a comment: it follows a quote, or one that was opened and not closed in
 * its line. If the line is longer than `before`, it is assumed to start outside a literal, unless the value's own line is in one.
 */
export function isText(before: string): boolean {
  if (/["'`]$/.test(before) || lineInLiteral.test(before)) return true;
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

/** `…\\nAPI_KEY=`, `…\\r\\n  token: `: the escape of a line break, and a setting behind it. Regular expressions have signs there. */
const lineInLiteral = /\\n[ \t]{0,40}\w[\w .-]{0,80}[=:] ?$/;

const lineBefore = ({ text }: Page, at: number): string =>
  text.slice(Math.max(text.lastIndexOf('\n', at - 1) + 1, at - reach), at);

/**
 * ` *   AccessKeyId: "AKIAIOSFODNN7EXAMPLE",` and the token that a well-known page about tokens shows: no issuer draws these. Only in a
 * comment of a program, because people copy such keys elsewhere and change some letters of them.
 */
export function isExampleInComment(page: Page, { start, end }: { start: number; end: number }): boolean {
  if (end - start > longestExample) return false;
  // What all such keys begin with is not withheld.
  const head = /(?:A[KS]IA|eyJ)$/.exec(page.text.slice(Math.max(0, start - 4), start))?.[0] ?? '';
  if (!exampleKey.test(head + page.text.slice(start, end))) return false;
  return /^(?:[ \t]+\*|[ \t]*\/\/)[ \t]/.test(lineBefore(page, start));
}
const longestExample = 400;
const exampleKey =
  /^A[KS]IA[A-Z\d]{9}EXAMPLE$|^[A-Za-z\d/+]{29,32}EXAMPLEKEY$|^eyJ[\w-]+\.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI[\w-]+\.[\w-]+$/;

/** No sign of a program is around the value at `span`: a log, a printed object, prose. */
export const isOutsidePrograms = (page: Page, place: NamePlace, span: { end: number }): boolean =>
  signsAround(page, place, span) === 0;

/**
 * The quoted value at `span` is a literal of a program: a sign of a program is around it, as none would be in a setting, and its
 * name is not in double quotes, as in JSON, and not followed by `="`, as in a setting or a tag.
 */
export function isLiteralOfProgram(
  page: Page,
  place: NamePlace,
  span: { start: number; end: number },
): boolean {
  const { units } = page;
  const before = units[place.start - 1];
  if (before === 34 || before === 92) return false;
  if (units[place.sign] === 61 && span.start - 1 === place.behind) return false;
  return signsAround(page, place, span) > 0;
}

/** The same for a literal that has no name: an address. */
export const isInProgram = (page: Page, start: number, end: number): boolean =>
  signsAround(page, { start }, { end }) > 0;

function signsAround({ text }: Page, { start }: Pick<NamePlace, 'start'>, { end }: { end: number }): number {
  const around = `${text.slice(Math.max(0, start - reach), start)} ${text.slice(end, end + reach)}`;
  return signs.filter((sign) => sign.test(around)).length;
}
