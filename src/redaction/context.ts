/**
 * Names and the values behind them: `"key": "value"`, `KEY=value`, `key: value`, `Header: value`, `?key=value`,
 * `--key value`, `<key>value</key>`, `"key", "value"`, and a name in one field with its value in the next. Asks NameBook
 * about names and values.ts about values; finds nothing without a name.
 */
import { characterTables, wordUnit } from './characters.ts';
import { escapeMask, escapeShift, readEscape } from './escapes.ts';
import { findAuthorization, findCookies, longestLine } from './header-values.ts';
import type { NameVerdict } from './key-names.ts';
import type { NameBook } from './name-book.ts';
import type { Finding, Page } from './page.ts';
import { nameByShape } from './shape-table.ts';
import { longestJudged, readBare, readBlock, readQuoted, type ValueSpan } from './value-span.ts';
import { isSecretValue, isStandIn, looksRandom, type ValueForm } from './values.ts';

/** A name in the text and the sign behind it; half-open extents. */
export interface NamePlace {
  start: number;
  end: number;
  /** The first unit of the sign, and the first behind it. */
  sign: number;
  behind: number;
  /** The sign is percent-encoded. */
  encoded: boolean;
}

const fillIn =
  /<[^<>\n]{1,80}>|\$\{[^{}\n]{0,80}\}|\{\{[^{}\n]{0,80}\}\}|\$\{\{[^{}\n]{0,80}\}\}|\$\([^()\n]{0,80}\)|\[[^[\]\n]{0,80}\]|\{[\w.]{0,80}\}/y;

/** How far behind a name in one field its value may stand in another. */
const labelReach = 240;

export class ContextReader {
  private readonly names: NameBook;
  private page!: Page;
  private out!: Finding[];
  private label: NameVerdict | undefined;
  private labelUntil = 0;
  /** Lines of cookies are read to here. */
  private cookiesUntil = 0;

  constructor(names: NameBook) {
    this.names = names;
  }

  open(page: Page, out: Finding[]): void {
    this.page = page;
    this.out = out;
    this.label = undefined;
    this.cookiesUntil = 0;
  }

  /** A sign (`:` or `=`) stands behind a name. Answers where reading goes on. */
  readSigned(place: NamePlace): number {
    let verdict = this.names.lookUp(this.page, place.start, place.end);
    if (verdict === undefined) return place.behind;
    if (verdict.strength < 2 && !verdict.form) verdict = this.widenName(place, verdict);
    else if (verdict.rule === 'key') verdict = this.widenName(place, verdict);
    if (verdict.form === 'content') verdict = this.takeLabel(place) ?? verdict;
    if (verdict.strength === 0 && verdict.form !== 'label') return place.behind;
    if (verdict.rule === 'cookie' && place.start < this.cookiesUntil) return place.behind;
    const at = this.skipSign(place);
    if (at < 0) return place.behind;
    const read = this.readValueAt(at, place, verdict);
    return read > at ? read : place.behind;
  }

  /** `api.key`, `API Key`: the word before belongs to the name. A backslash may have taken the name's first letter. */
  private widenName(place: NamePlace, verdict: NameVerdict): NameVerdict {
    const { units, text } = this.page;
    const before = units[place.start - 1]!;
    if (before === 92 || (units[place.start - 2] === 92 && before > 96)) {
      const whole = this.names.judge(text.slice(before === 92 ? place.start : place.start - 1, place.end));
      return whole.strength > verdict.strength ? whole : verdict;
    }
    if (verdict.rule !== 'key' || (before !== 46 && before !== 32)) return verdict;
    const { classes } = characterTables();
    let start = place.start - 1;
    while (start > 0 && place.start - start < 24 && classes[units[start - 1]!]! & wordUnit) start -= 1;
    const wide = this.names.judge(text.slice(start, place.end));
    if (before === 32 ? wide.strength === 3 : wide.strength > 0) return wide;
    return verdict;
  }

  private takeLabel(place: NamePlace): NameVerdict | undefined {
    if (!this.label || place.start > this.labelUntil) return undefined;
    const label = this.label;
    this.label = undefined;
    return label;
  }

  /** Where the value starts, or -1 when the sign is none (`::`, `==` before no literal). */
  private skipSign(place: NamePlace): number {
    const { units } = this.page;
    let i = place.behind;
    let compares = false;
    while (
      (units[i] === 61 || units[i] === 62 || units[i] === 58 || units[i] === 126) &&
      i - place.behind < 3
    ) {
      compares = true;
      i += 1;
    }
    const quoted = this.keyQuote(place) !== '';
    for (let blanks = 0; blanks < 200; blanks++) {
      const unit = units[i]!;
      if (unit === 32 || unit === 9 || (quoted && (unit === 10 || unit === 13))) i += 1;
      else {
        const packed = unit === 37 || unit === 92 ? readEscape(units, i) : 0;
        const stands = packed & escapeMask;
        if (packed === 0 || (stands !== 32 && stands !== 9 && !(quoted && stands === 10))) break;
        i += packed >>> escapeShift;
      }
    }
    if (compares && units[place.behind] !== 62 && !readQuoted(this.page, i)) return -1;
    if (/[A-Za-z@$]/.test(this.page.text[i] ?? '') && (units[i + 1] === 34 || units[i + 1] === 39)) i += 1;
    return i;
  }

  /** The quote (with its backslashes) that closes the name, or ''. */
  private keyQuote(place: NamePlace): string {
    const between = this.page.text.slice(place.end, place.sign);
    return /^(?:\\*["'`]|%(?:25)*22|&quot;|\\+u0022)/.exec(between)?.[0] ?? '';
  }

  private readValueAt(at: number, place: NamePlace, verdict: NameVerdict): number {
    const { units } = this.page;
    const quoted = readQuoted(this.page, at);
    if (quoted) return this.judgeQuoted(quoted, verdict, place);
    const unit = units[at]!;
    if (unit === 91 || unit === 40) return this.readList(at, verdict, place);
    if (unit === 123) return at;
    const startsLine = this.startsLine(place.start);
    if ((unit === 124 || unit === 62) && startsLine) {
      const block = readBlock(this.page, at, this.indentOf(place.start));
      if (block) return this.judgeQuoted(block, verdict, place);
    }
    return this.judgeBare(at, verdict, place, startsLine);
  }

  private judgeQuoted(span: ValueSpan, verdict: NameVerdict, place: NamePlace): number {
    if (verdict.form === 'label') {
      const named = this.names.judge(this.page.text.slice(span.start, Math.min(span.end, span.start + 80)));
      if (named.strength >= 2) {
        this.label = named;
        this.labelUntil = span.close + labelReach;
        return span.close;
      }
    }
    if (verdict.strength === 0) return 0;
    const form: ValueForm = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    return this.report(span, verdict, form, place) ? span.close : 0;
  }

  private judgeBare(at: number, verdict: NameVerdict, place: NamePlace, startsLine: boolean): number {
    const { units, text, length } = this.page;
    const tight = at === place.behind;
    const spansLine = verdict.form === 'cookie' || verdict.form === 'set-cookie' || verdict.form === 'phrase';
    let span =
      spansLine || this.isLongAuthorization(at, verdict)
        ? this.readLine(at)
        : readBare(this.page, at, { encoded: place.encoded, wholeLine: startsLine });
    if (verdict.form === 'authorization') span = this.includeScheme(span, place);
    if (span.end <= span.start || this.isFillIn(at, span.end)) return 0;
    if (verdict.form === 'label') {
      const named = this.names.judge(text.slice(span.start, Math.min(span.end, span.start + 80)));
      if (named.strength >= 2) {
        this.label = named;
        this.labelUntil = span.close + labelReach;
        return span.close;
      }
    }
    if (verdict.strength === 0) return 0;
    if (verdict.form === 'code' && !(tight && this.isQuery(place))) return 0;
    const next = span.end < length ? units[span.end]! : 0;
    const endsLine =
      next === 0 ||
      next === 10 ||
      next === 13 ||
      (next === 92 && (readEscape(units, span.end) & escapeMask) === 10) ||
      next === 34;
    return this.report(span, verdict, { quoted: false, tight, startsLine, endsLine, next }, place)
      ? span.close
      : 0;
  }

  /** `<your-key>`, `${TOKEN}`, `{{ token }}`: brackets that end a bare value belong to what fills its place. */
  private isFillIn(start: number, end: number): boolean {
    fillIn.lastIndex = start;
    return fillIn.test(this.page.text) && fillIn.lastIndex >= end;
  }

  /** `?code=`, `&sig=`: only in a query. */
  private isQuery(place: NamePlace): boolean {
    const { units } = this.page;
    const before = units[place.start - 1];
    return (
      before === 63 ||
      before === 38 ||
      before === 35 ||
      before === 59 ||
      place.encoded ||
      this.startsLine(place.start)
    );
  }

  private isLongAuthorization(at: number, verdict: NameVerdict): boolean {
    return (
      verdict.form === 'authorization' &&
      /^(?:AWS4|Digest|OAuth|Signature|Hawk|MAC|GoogleLogin|SharedKey|FlyV1)/i.test(
        this.page.text.slice(at, at + 12),
      )
    );
  }

  /** `Bearer x`: a bare value of two words. */
  private includeScheme(span: ValueSpan, place: NamePlace): ValueSpan {
    const { units, text } = this.page;
    if (units[span.end] !== 32 || !/^[A-Za-z][\w-]{2,20}$/.test(text.slice(span.start, span.end)))
      return span;
    const rest = readBare(this.page, span.end + 1, { encoded: place.encoded, wholeLine: false });
    return { ...rest, start: span.start };
  }

  /** To the line's end, real or escaped, or to the quote that ends the string. */
  private readLine(start: number): ValueSpan {
    const { units } = this.page;
    const length = Math.min(this.page.length, start + longestLine);
    let i = start;
    while (i < length) {
      const unit = units[i]!;
      if (unit === 10 || unit === 13 || unit === 34 || unit === 39 || unit === 96) break;
      if (unit === 92) {
        const packed = readEscape(units, i);
        const stands = packed & escapeMask;
        if (stands === 10 || stands === 34 || stands === 39) break;
        i += Math.max(1, packed >>> escapeShift);
      } else i += 1;
    }
    return { start, end: i, close: i, quoted: false };
  }

  /** `["a", "b"]` or `=(value)`: each string is judged alone. */
  private readList(at: number, verdict: NameVerdict, place: NamePlace): number {
    const { units, text } = this.page;
    if (units[at] === 40 && !readQuoted(this.page, at + 1)) {
      const end = text.indexOf(')', at);
      if (end < 0 || end - at > 200 || units[place.sign - 1] !== 41) return 0;
      const span = { start: at + 1, end, close: end + 1, quoted: true };
      return this.judgeQuoted(span, verdict, place);
    }
    if (verdict.strength < 2) return 0;
    let i = at + 1;
    let found = 0;
    for (let items = 0; items < 64; items++) {
      while (units[i] === 44 || (units[i]! <= 32 && i < this.page.length)) i += 1;
      const span = readQuoted(this.page, i);
      if (!span || span.resume) break;
      found = Math.max(found, this.judgeQuoted(span, verdict, place));
      i = span.close;
    }
    return found;
  }

  /** Pushes what must go of the value; false when it is no secret. */
  private report(span: ValueSpan, verdict: NameVerdict, form: ValueForm, place: NamePlace): boolean {
    const { text } = this.page;
    const length = span.end - span.start;
    if (verdict.form === 'cookie' || verdict.form === 'set-cookie') {
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
      !form.quoted && /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(value) ? this.keyQuote(place) : '';
    if (verdict.form === 'authorization') return pushFound(this.out, findAuthorization(span, value, quote));
    if (!isSecretValue(value, verdict, form)) return false;
    this.out.push({ ...nameByShape(this.page, span, verdict.rule), quote, resume: span.resume });
    return true;
  }

  /** Nothing but indentation, a dash, a quote, `export` or the like stands before the name in its line. */
  private startsLine(start: number): boolean {
    const { units, text } = this.page;
    let i = start;
    while (i > 0 && start - i < 60 && (units[i - 1] === 32 || units[i - 1] === 9 || units[i - 1] === 45))
      i -= 1;
    if (i === 0 || units[i - 1] === 10) return true;
    if (units[i - 2] === 92 && (units[i - 1] === 110 || units[i - 1] === 116)) return true;
    return /(?:^|\n|\\n)[ \t]*(?:export|set|setx|ENV|ARG|env|declare -x) $/.test(
      text.slice(Math.max(0, i - 24), i),
    );
  }

  private indentOf(start: number): number {
    const { units } = this.page;
    let i = start;
    while (i > 0 && units[i - 1] !== 10 && start - i < 200) i -= 1;
    return start - i;
  }

  /** A flag ended at `end`: `--token value`, `"--token", "value"`. Answers where reading goes on, or 0. */
  readFlag(start: number, end: number): number {
    const { units, text } = this.page;
    const name = text.slice(start, end);
    const between = /(?:\\*["'])?(?:,?\s{1,8}|,)(?=\S)/y;
    between.lastIndex = end;
    if (!between.test(text)) return 0;
    const at = between.lastIndex;
    if (units[at] === 45) return 0;
    const place = { start, end, sign: end, behind: at, encoded: false };
    if (/^-{1,2}(?:u|user|proxy-user)$/.test(name)) return this.reportUserPair(at);
    const verdict = this.names.lookUp(this.page, start, end);
    if (!verdict || verdict.strength < 2) return 0;
    const quoted = readQuoted(this.page, at);
    const span = quoted ?? readBare(this.page, at, { encoded: false, wholeLine: true });
    if (span.end <= span.start || this.isFillIn(at, span.end)) return 0;
    const form = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    return this.report(span, verdict, form, place) ? span.close : 0;
  }

  /** `-u name:password`. */
  private reportUserPair(at: number): number {
    const span = readQuoted(this.page, at) ?? readBare(this.page, at, { encoded: false, wholeLine: true });
    const value = this.page.text.slice(span.start, Math.min(span.end, span.start + 300));
    const colon = value.indexOf(':');
    const password = value.slice(colon + 1);
    if (colon < 1 || isStandIn(password) || /^\d{1,5}$/.test(password) || password.startsWith('//')) return 0;
    this.out.push({ start: span.start + colon + 1, end: span.end, rule: 'password' });
    return span.close;
  }

  /** A quoted name and a comma end at `comma`: `"x-api-key", "value"` as raw headers and argument lists have it. */
  readListed(place: NamePlace): number {
    const verdict = this.names.lookUp(this.page, place.start, place.end);
    if (!verdict || verdict.strength < 2 || this.keyQuote(place) === '') return place.behind;
    let at = place.behind;
    while (at < this.page.length && this.page.units[at]! <= 32 && at - place.behind < 40) at += 1;
    const span = readQuoted(this.page, at);
    if (!span) return place.behind;
    const value = this.page.text.slice(span.start, Math.min(span.end, span.start + 300));
    if (!verdict.form && (this.names.judge(value).strength > 0 || !looksRandom(value, 8)))
      return place.behind;
    const form = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    return this.report(span, verdict, form, place) ? span.close : place.behind;
  }

  /** `<password>value</password>`; the page holds `>` at `sign`. */
  readElement(place: NamePlace): number {
    const { units, text } = this.page;
    if (units[place.sign] !== 62 || place.end !== place.sign) return place.behind;
    const end = text.slice(place.behind, place.behind + longestJudged).search(/[<"\n]|&lt;/);
    if (end <= 0) return place.behind;
    const span = { start: place.behind, end: place.behind + end, close: place.behind + end, quoted: true };
    let verdict = this.names.lookUp(this.page, place.start, place.end);
    if (verdict?.form === 'content') verdict = this.takeLabel(place);
    if (!verdict) return place.behind;
    return this.judgeQuoted(span, verdict, place) || place.behind;
  }
}

/** Pushes the findings; false when there are none. */
function pushFound(out: Finding[], ...found: (Finding | undefined)[]): boolean {
  const real = found.filter((finding) => finding !== undefined);
  out.push(...real);
  return real.length > 0;
}
