/**
 * Names and the values after them: `"key": "value"`, `KEY=value`, `key: value`, `Header: value`, `?key=value`, `--key value`,
 * `<key>value</key>`, `"key", "value"`, and a name in one field with its value in the next. Names are judged by NameBook,
 * values by values.ts. Finds nothing without a name.
 */

import type { NameVerdict } from '../names/key-names.ts';
import type { NameBook } from '../names/name-book.ts';
import type { NamePlace } from '../names/name-place.ts';
import {
  isChecksumOf,
  isNextName,
  isQuery,
  isResourceName,
  keyQuote,
  verdictBeforeIs,
  verdictOfElement,
  widenName,
} from '../names/name-surroundings.ts';
import { Surroundings } from '../names/surroundings.ts';
import { escapeMask, readEscape } from '../scan/escapes.ts';
import type { Finding, Page } from '../scan/page.ts';
import { nameByShape } from '../scan/shape-table.ts';
import { isCodeOfEvent } from '../speech/said-codes.ts';
import { isExampleWords, isIssuedAsWord } from '../values/example-values.ts';
import { isCodeInTemplate, isCodePiece, isSpokenPhrase } from '../values/program-values.ts';
import { hasRandomPart } from '../values/randomness.ts';
import { isFillIn } from '../values/stand-ins.ts';
import {
  includeBrace,
  indentOf,
  longestJudged,
  readBare,
  readBlock,
  readLine,
  readQuoted,
  startsLine,
  type ValueSpan,
} from '../values/value-span.ts';
import { readBytes, readEnclosed, readWrapped } from '../values/value-wrapping.ts';
import { isSecretValue, looksChosen, type ValueForm } from '../values/values.ts';
import { formattedValue } from './formatted-values.ts';
import {
  findAuthorization,
  findCookies,
  includeScheme,
  isLongAuthorization,
  longestLine,
} from './header-values.ts';
import { listedValue } from './listed-values.ts';
import { elementName, elementText, isTagName, isTypeArgument } from './markup.ts';
import {
  closesPrompt,
  isEventName,
  isMessageNumber,
  isNoName,
  isOnBadge,
  isStartOfMore,
  namesPackage,
  repeatsName,
  repeatsUser,
} from './plain-literals.ts';
import { holdsPlainName, holdsShortWord } from './plain-values.ts';
import { declaresType, isLiteralOfProgram, isOutsidePrograms, isProgramsOwn } from './program-line.ts';
import { hasOnlyRemark, isNamedPhrase, isPhraseSetting, isShownText, settingKind } from './setting-line.ts';
import { bareItems, isKeysName, quotedItems, readParenthesis } from './value-lists.ts';
import { bareText, valueStart } from './value-start.ts';

const emptyLine = /(?:\r?\n){2}|(?:(?:\\{1,8}r)?\\{1,8}n){2}/y;

function bareLine(page: Page, at: number): string {
  const { start, end } = readLine(page, at, longestJudged);
  return page.text.slice(start, end);
}

const withoutForm = ({ strength, rule }: NameVerdict): NameVerdict => ({ strength, rule });

/** Not `x || exit 1`, `x command --flag`: the first word is the value, and the rest is not. */
const ofWords = /^["']?[\p{L}\d'’-]+(?: [\p{L}\d'’]+(?:-[\p{L}\d'’]+)*)+["']?$/u;

/** For the second of two values under a name like `auth`; the first one is the user. */
const passwordVerdict: NameVerdict = { strength: 2, rule: 'password' };

export class ContextReader {
  private readonly names: NameBook;
  private page!: Page;
  private out!: Finding[];
  private readonly around: Surroundings;
  /** Cookies have been read up to here. */
  private cookiesUntil = 0;

  constructor(names: NameBook) {
    this.names = names;
    this.around = new Surroundings(names);
  }

  open(page: Page, out: Finding[]): void {
    this.page = page;
    this.out = out;
    this.cookiesUntil = 0;
    this.around.open(page, out);
  }

  /** End of the last opened object of secrets. */
  get groupEnd(): number {
    return this.around.groupEnd;
  }

  get labelEnd(): number {
    return this.around.labelEnd;
  }

  get fieldEnd(): number {
    return this.around.fieldEnd;
  }

  /** There is a sign (`:` or `=`) after a name. Returns the position where the scan continues. */
  readSigned(place: NamePlace): number {
    const named = this.names.lookUp(this.page, place.start, place.end);
    let verdict = named && (named.strength > 0 || named.form) ? named : this.verdictAround(place);
    if (verdict === undefined || this.isEmptyHanded(verdict, place)) return place.behind;
    if (verdict.strength < 2 && !verdict.form) verdict = widenName(this.page, this.names, place, verdict);
    else if (verdict.rule === 'key' || verdict.form === 'code')
      verdict = widenName(this.page, this.names, place, verdict);
    if (verdict.form === 'manifest') {
      const content = this.around.contentAt(place.start);
      if (!content || content.strength < 2) return this.around.openManifest(place);
      verdict = content;
    }
    if (verdict.form === 'content') verdict = this.contentVerdict(place) ?? verdict;
    if (verdict.strength === 0 && verdict.form !== 'label') return place.behind;
    if (isNoName(this.page, place)) return place.behind;
    if (this.page.units[place.start - 1] === 58 && isResourceName(this.page, place)) return place.behind;
    if (this.page.units[place.start - 1] === 47 && isChecksumOf(this.page, place)) return place.behind;
    if (verdict.rule === 'cookie' && place.start < this.cookiesUntil) return place.behind;
    const at = valueStart(this.page, place);
    if (at < 0) return place.behind;
    if (this.page.units[at] === 10) this.around.openLines(at, place, verdict);
    const read = this.readValueAt(at, place, verdict);
    return read > at ? read : place.behind;
  }

  /**
   * A quick check of the value for nearly all labels (`name`, `type`) and names of one letter (`d`, `p`), before it is read
   * in detail.
   */
  private isEmptyHanded({ strength, form, rule }: NameVerdict, { start, behind }: NamePlace): boolean {
    if (form === 'label' && strength === 0 && rule !== 'selector')
      return !this.around.hasLabelFor(start) && holdsPlainName(this.page, this.names, behind);
    return !form && rule.startsWith('jwk-') && holdsShortWord(this.page, behind);
  }

  /** Like readSigned, for a name that the caller has judged. */
  readUnder(verdict: NameVerdict, place: NamePlace, isSpoken = false): number {
    const at = valueStart(this.page, place);
    // A verb, unlike a sign, can be followed by anything: `密码是必填的`.
    return at < 0 || (isSpoken && !looksChosen(bareText(this.page, at)))
      ? 0
      : this.readValueAt(at, place, verdict);
  }

  /** For a name that is not sensitive itself, but is in an object of secrets, or is the `is` of `password is: x`. */
  private verdictAround(place: NamePlace): NameVerdict | undefined {
    if (place.start >= this.around.groupEnd && place.end - place.start !== 2) return undefined;
    // The output of an earlier pass is not a name.
    if (this.page.units[place.start - 1] === 91 && this.page.text.startsWith('redacted', place.start))
      return undefined;
    return this.around.groupAt(place.start) ?? verdictBeforeIs(this.page, this.names, place);
  }

  /** For `value` and similar names: the verdict from the field before, the object around, or the word before. */
  private contentVerdict(place: NamePlace): NameVerdict | undefined {
    const { around } = this;
    return (
      around.takeLabel(place.start) ??
      around.contentAt(place.start) ??
      around.idBefore(place.start) ??
      verdictOfElement(this.page, this.names, place) ??
      around.markedAround(place.start) ??
      this.verdictAround(place)
    );
  }

  private readValueAt(at: number, place: NamePlace, verdict: NameVerdict): number {
    const { units } = this.page;
    const quoted = readQuoted(this.page, at);
    if (quoted && closesPrompt(this.page, place, at)) return 0;
    if (quoted) return this.judgeQuoted(quoted, verdict, place);
    const isStrong = verdict.strength >= 2;
    const bytes = isStrong && verdict.rule !== 'token' ? readBytes(this.page, at) : undefined;
    if (bytes) {
      this.out.push({ ...bytes, rule: verdict.rule, quote: bytes.bare ? keyQuote(this.page, place) : '' });
      return bytes.end;
    }
    const enclosed = isStrong ? (readWrapped(this.page, at) ?? readEnclosed(this.page, at)) : undefined;
    if (enclosed) return this.judgeQuoted(enclosed, verdict, place);
    const formatted = isStrong ? formattedValue(this.page, at) : undefined;
    // The rest of the format is before the value.
    if (formatted) return this.judgeQuoted(formatted, verdict, place) && at;
    const unit = units[at]!;
    if (unit === 91 || unit === 40) return this.readList(at, verdict, place);
    if (unit === 123) {
      this.around.openGroup(at, verdict);
      return at;
    }
    const isFirst = startsLine(this.page, place.start);
    if ((unit === 124 || unit === 62) && isFirst) {
      const block = readBlock(this.page, at, indentOf(this.page, place.start));
      if (block) return this.judgeQuoted(block, verdict, place);
    }
    return this.judgeBare(at, verdict, place, isFirst);
  }

  private judgeQuoted(span: ValueSpan, verdict: NameVerdict, place: NamePlace): number {
    if (verdict.form === 'label' && this.around.noteLabel(span, verdict))
      return this.readFormPart(span) || span.close;
    if (verdict.strength === 0) return 0;
    const form: ValueForm = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    if (!verdict.form && isPhraseSetting(this.page, span, place))
      return this.report(span, { ...verdict, form: 'phrase' }, form, place) ? span.close : 0;
    return this.report(span, verdict, form, place) ? span.close : 0;
  }

  private judgeBare(at: number, verdict: NameVerdict, place: NamePlace, isFirst: boolean): number {
    const { units, text, length } = this.page;
    const tight = at === place.behind;
    const spansLine = verdict.form === 'cookie' || verdict.form === 'set-cookie';
    const isPhrase =
      verdict.form === 'phrase'
        ? this.isPhraseAt(at, tight && isFirst)
        : tight && isFirst && isNamedPhrase(this.page, place) && ofWords.test(bareLine(this.page, at));
    if (verdict.form === 'phrase' && !isPhrase)
      return this.judgeBare(at, withoutForm(verdict), place, isFirst);
    let span =
      spansLine || isPhrase || isLongAuthorization(this.page, at, verdict)
        ? readLine(this.page, at, longestLine)
        : readBare(this.page, at, { encoded: place.encoded, wholeLine: isFirst });
    if (verdict.form === 'authorization') span = includeScheme(this.page, span, place);
    if (tight && isFirst) span = includeBrace(this.page, span);
    if (span.end <= span.start || isFillIn(text, at, span.end)) return 0;
    // A word that names another value may also be a variable with its own value after it.
    if (verdict.form === 'label' && this.around.noteLabel(span, verdict)) return 0;
    if (verdict.strength === 0 || isNextName(this.page, span)) return 0;
    if (verdict.form === 'code' && !(tight && isQuery(this.page, place))) return 0;
    const next = span.end < length ? units[span.end]! : 0;
    const endsLine =
      next === 0 ||
      next === 10 ||
      next === 13 ||
      (next === 92 && (readEscape(units, span.end) & escapeMask) === 10) ||
      next === 34 ||
      ((next === 32 || next === 9) && hasOnlyRemark(this.page, span.end));
    const form: ValueForm = { quoted: false, tight, startsLine: isFirst, endsLine, next };
    if (verdict.strength >= 2 && !verdict.form && next !== 59) {
      form.setting = settingKind(this.page, place, span, form);
      if (form.setting && isShownText(this.page, place, text.slice(span.start, span.end))) return 0;
    }
    if (verdict.rule === 'password' && !tight && !form.setting && span.end - span.start >= 8)
      form.outside = isOutsidePrograms(this.page, place, span);
    return this.report(span, verdict, form, place) ? span.close : 0;
  }

  /** Words up to the line's end; in a setting (`PASSPHRASE=…`) any text with blanks. */
  private isPhraseAt(at: number, isSetting: boolean): boolean {
    const line = bareLine(this.page, at);
    return isSpokenPhrase(line) || (isSetting && / /.test(line) && !isCodePiece(line));
  }

  /** `["a", "b"]` or `=(value)`: each string is judged separately. */
  private readList(at: number, verdict: NameVerdict, place: NamePlace): number {
    const { units } = this.page;
    const opensQuoted = readQuoted(this.page, at + 1) !== undefined;
    if (units[at] === 40 && !opensQuoted) {
      const span = readParenthesis(this.page, at, place);
      return span ? this.judgeQuoted(span, verdict, place) : 0;
    }
    if (verdict.strength === 0) return 0;
    let found = 0;
    if (units[at] === 91 && !opensQuoted)
      for (const span of bareItems(this.page, at, verdict))
        found = Math.max(found, this.judgeQuoted(span, verdict, place));
    if (found) return found;
    if (units[at + 1] === 123) {
      this.around.openGroup(at, verdict);
      return at;
    }
    const isPair = verdict.rule === 'credential' && verdict.strength >= 2;
    for (const [index, span] of quotedItems(this.page, at).entries()) {
      const judged = isPair && index === 1 ? passwordVerdict : verdict;
      if (!isKeysName(this.page, span, verdict))
        found = Math.max(found, this.judgeQuoted(span, judged, place));
    }
    return found;
  }

  /** `name="x"`, an empty line, and the value: a part of a multipart form. */
  private readFormPart(name: ValueSpan): number {
    emptyLine.lastIndex = name.close;
    if (!emptyLine.test(this.page.text)) return 0;
    const span = readLine(this.page, emptyLine.lastIndex, longestJudged);
    const label = this.around.takeLabel(name.close);
    const form: ValueForm = { quoted: true, tight: false, startsLine: true, endsLine: true, next: 0 };
    const value = this.page.text.slice(span.start, span.end);
    if (!label || !isSecretValue(value, label, form)) return 0;
    this.out.push(nameByShape(this.page, span, label.rule));
    return span.end;
  }

  /** Pushes what must be withheld of the value. False if it is not a secret. */
  private report(span: ValueSpan, verdict: NameVerdict, form: ValueForm, place: NamePlace): boolean {
    const { text } = this.page;
    const length = span.end - span.start;
    const isCookie = verdict.form === 'cookie' || verdict.form === 'set-cookie';
    const isJudged = !isCookie && length <= longestJudged && verdict.form !== 'authorization';
    if (!isJudged && this.isProgramsOwn(span, form, place)) return false;
    if (isCookie) {
      this.cookiesUntil = span.end;
      return pushFound(this.out, ...findCookies(this.page, span, verdict.form === 'set-cookie'));
    }
    if (length > longestJudged) {
      if (verdict.strength < 2 || /\s/.test(text.slice(span.start, span.start + 200))) return false;
      this.out.push({ start: span.start, end: span.end, rule: verdict.rule, resume: span.resume });
      return true;
    }
    const value = text.slice(span.start, span.end);
    const quote =
      !form.quoted && /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(value) ? keyQuote(this.page, place) : '';
    if (verdict.form === 'authorization') {
      const found = findAuthorization(this.page, span, value, quote);
      const isOpen = found && form.quoted && isExampleWords(text.slice(found.start, found.end));
      return pushFound(this.out, isOpen && isLiteralOfProgram(this.page, place, span) ? undefined : found);
    }
    if (!isSecretValue(value, verdict, form) || repeatsName(this.page, place, value)) return false;
    if (verdict.rule === 'one-time-code' && isCodeOfEvent(this.page, place, value)) return false;
    if (isOnBadge(this.page, place) || isMessageNumber(this.page, place, span, form)) return false;
    const isExample =
      isExampleWords(value) ||
      isIssuedAsWord(value, text.slice(place.start, place.end), verdict.rule) ||
      (text[span.start - 1] === '`' && isCodeInTemplate(value)) ||
      repeatsUser(this.page, place, value) ||
      namesPackage(this.page, place, value);
    if (form.quoted && isExample && isLiteralOfProgram(this.page, place, span)) return false;
    if (form.quoted && declaresType(this.page, place)) return false;
    if (
      form.quoted ? isStartOfMore(this.page, place, span, value) : isEventName(this.page, place, span, value)
    )
      return false;
    // Most expensive, therefore last: nearly all such values don't look like a secret.
    if (this.isProgramsOwn(span, form, place)) return false;
    this.out.push({ ...nameByShape(this.page, span, verdict.rule), quote, resume: span.resume });
    return true;
  }

  private isProgramsOwn(span: ValueSpan, { quoted, setting }: ValueForm, place: NamePlace): boolean {
    return !quoted && setting !== 'sure' && isProgramsOwn(this.page, place, span);
  }

  /** A quoted name followed by the comma at `comma`: `"x-api-key", "value"` in raw headers and argument lists. */
  readListed(place: NamePlace): number {
    const verdict = this.names.lookUp(this.page, place.start, place.end);
    if (!verdict || (verdict.strength < 2 && verdict.rule !== 'session')) return place.behind;
    const span = listedValue(this.page, place, verdict, this.names);
    if (!span) return place.behind;
    const form = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    return this.report(span, verdict, form, place) ? span.close : place.behind;
  }

  /** `<password>value</password>`. There is a `>` at `place.sign`. */
  readElement(place: NamePlace): number {
    const isLabelled = place.start < 0 && this.around.isLabelled(place.sign);
    const isNamed = place.start >= 0 && place.end === place.sign && isTagName(this.page, place);
    const name = isNamed || isLabelled ? place : elementName(this.page, place);
    if (!name) return place.behind;
    let verdict = isLabelled ? undefined : this.names.lookUp(this.page, name.start, name.end);
    if (!verdict && !isLabelled) return place.behind;
    const span = elementText(this.page, place.behind);
    if (!span || (isNamed && isTypeArgument(this.page, place, span))) return place.behind;
    const text = this.page.text.slice(span.start, Math.min(span.end, span.start + longestJudged));
    // `<code>` is also a text style.
    if (verdict?.form === 'code' && (/%[\dA-F]{2}/i.test(text) || !hasRandomPart(text, 12)))
      return place.behind;
    // `<user>:<password>` in a comment, followed by program code.
    if (!this.page.text.startsWith('</', span.end) && /\w\(| = /.test(text)) return place.behind;
    if (verdict?.form === 'content' && !isLabelled && this.around.noteLabel(span)) return span.end;
    if (isLabelled || verdict?.form === 'content')
      verdict =
        this.around.takeLabel(place.start) ?? verdictOfElement(this.page, this.names, { ...place, ...name });
    if (!verdict) return place.behind;
    return this.judgeQuoted(span, verdict, place) || place.behind;
  }
}

/** Pushes the findings. False if there are none. */
function pushFound(out: Finding[], ...found: (Finding | undefined)[]): boolean {
  const real = found.filter((finding) => finding !== undefined);
  out.push(...real);
  return real.length > 0;
}
