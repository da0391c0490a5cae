/**
 * Distinguishes a line of a configuration file (properties, INI, YAML, dotenv) from one of a program. In a setting a value is
 * a literal even if it looks like a variable: `spring.datasource.password=userWindow`. Decided by the key or the neighbouring
 * lines.
 */
import type { NamePlace } from '../names/name-place.ts';
import { alnum, characterTables, connector } from '../scan/characters.ts';
import type { Page } from '../scan/page.ts';
import { isSpokenPhrase } from '../values/program-values.ts';

/** `sure`: no program has such a name. `likely`: the neighbouring lines are settings, or it is a flag of a command. */
export type SettingKind = 'sure' | 'likely';

const longestKey = 120;
/** How much text is examined on each side. */
const reach = 400;
/** Line ends before and after a value, also escaped ones within a string. */
const lineEnd = /\r?\n|(?:\\{1,4}r)?\\{1,4}n/;

const upperKey = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/;
const dottedKey = /^[a-z][\w-]*(?:\.[A-Za-z\d][\w-]*)+$/;
const longKey = /^[a-z][a-z\d][\w-]*(?:\.[A-Za-z\d][\w-]*){2,}$/;
/** Names of a program's own objects: `this.form.password`. */
const programRoot =
  /^(?:this|self|cls|window|document|process|module|exports|props|state|form|req|request|res|response|ctx|context|event|user|options|opts|params|args|e|o|t|n|r)\./;

/** `login.label.password=Kennwort`: a text of a user interface. */
const shownText =
  /(?:^|[._-])(?:labels?|messages?|msgs?|placeholders?|titles?|buttons?|btn|tooltips?|hints?|errors?|validations?|i18n|menus?|pages?|dialogs?|texts?|captions?|fields?|headings?)[._-]/i;
const shownWord = /^\p{Lu}\p{Ll}{2,30}$/u;

/** The whole key that contains the name: `spring.datasource.password`. */
function wholeKey(page: Page, place: NamePlace): { start: number; key: string } {
  const { units, text } = page;
  const { classes } = characterTables();
  let start = place.start;
  while (start > 0 && place.start - start < longestKey) {
    const before = units[start - 1]!;
    if (before !== 46 && !(classes[before]! & (alnum | connector))) break;
    start -= 1;
  }
  // The letter of an escaped line break or tab.
  if (start < place.start && units[start - 1] === 92 && /[nrt]/.test(text[start]!)) start += 1;
  return { start, key: text.slice(start, place.end) };
}

/** The position of the value in its line. */
interface LinePlace {
  startsLine: boolean;
  endsLine: boolean;
}

/** The kind of setting that the name and its value at `span` are; undefined if they are none. */
export function settingKind(
  page: Page,
  place: NamePlace,
  span: { start: number; end: number },
  line: LinePlace,
): SettingKind | undefined {
  const { start, key } = wholeKey(page, place);
  const tight = span.start === place.behind;
  if (/^(?:--|-D)[A-Za-z]/.test(key)) return tight ? 'likely' : undefined;
  const isColon = page.units[place.sign] === 58;
  const isWhole = line.startsLine && line.endsLine;
  if (isWhole && /[a-z\d]-[a-z\d]/.test(key)) return 'sure';
  const isBetweenBlanks = line.endsLine || page.units[span.end]! <= 32;
  if (tight && isBetweenBlanks && upperKey.test(key)) return 'sure';
  // Not in a program: it would have a blank at the sign, or a minifier would have shortened the first name to one letter.
  if (longKey.test(key) && !programRoot.test(key) && (tight || (isColon && line.endsLine))) return 'sure';
  if (isWhole && isColon && dottedKey.test(key) && !programRoot.test(key)) return 'sure';
  return isWhole && hasSettingsAround(page, start, span.end, isColon, tight) ? 'likely' : undefined;
}

/** `menu.password=Change`: a text of a user interface, in any language. */
export function isShownText(page: Page, place: NamePlace, value: string): boolean {
  return shownWord.test(value) && shownText.test(wholeKey(page, place).key);
}

const plainValue = String.raw`[^\s,;(){}"'\\][^,;(){}\\]{0,200}`;
const tightLine = new RegExp(String.raw`^[ \t]*(?:export )?[\w.-]{1,80}=(?:${plainValue})?$`);
const blankLine = new RegExp(String.raw`^[ \t]*[\w.-]{1,80}[ \t]*=[ \t]*(?:${plainValue})?$`);
const colonLine = new RegExp(String.raw`^[ \t]*(?:- )?[\w.-]{1,80}:(?:[ \t]+${plainValue})?$`);
/** Within a string, its opening quote may come before. */
const header = /^(?:.*")?[ \t]*\[[\w.: -]{1,60}\][ \t]*$/;
const remark = /^[ \t]*(?:[#;].*)?$/;

function hasSettingsAround(
  page: Page,
  start: number,
  end: number,
  isColon: boolean,
  tight: boolean,
): boolean {
  const before = page.text
    .slice(Math.max(0, start - reach), start)
    .split(lineEnd)
    .slice(0, -1)
    .reverse();
  const isOwnKind = (line: string | undefined): boolean =>
    line !== undefined && (isColon ? colonLine : tightLine).test(line);
  if ((isColon || tight) && isOwnKind(before[0])) return true;
  // `user = name` can also be program code, but not below a section header.
  for (const line of before) {
    if (header.test(line)) return true;
    if (!remark.test(line) && !blankLine.test(line)) break;
  }
  if (!isColon && !tight) return false;
  return isOwnKind(page.text.slice(end, end + reach).split(lineEnd)[1]);
}

const restOfLine = /[ \t]{1,60}(?:[#;](?![^\s\w])[^\n"]{0,200})?(?=\r?\n|\\{1,4}[rn]|"|$)/y;

/** Only blanks and a comment (`# …`, `; …`) are between `end` and the line's end. */
export function hasOnlyRemark(page: Page, end: number): boolean {
  restOfLine.lastIndex = end;
  return restOfLine.test(page.text);
}

/** `BACKUP_PASSPHRASE`: of several words. */
export const isNamedPhrase = ({ text }: Page, { end }: NamePlace): boolean =>
  /passphrase$/i.test(text.slice(end - 10, end));

/** `export BORG_PASSPHRASE='a long phrase'`: the quoted value at `span`. */
export function isPhraseSetting(page: Page, span: { start: number; end: number }, place: NamePlace): boolean {
  const { text, units } = page;
  if (units[place.sign] !== 61 || place.end !== place.sign || span.start !== place.behind + 1) return false;
  return (
    /^[A-Z]/.test(text[place.start] ?? '') &&
    isNamedPhrase(page, place) &&
    isSpokenPhrase(text.slice(span.start, Math.min(span.end, span.start + 200)))
  );
}
