/**
 * The one pass over a page: walks from word to word, asks the shape table at each word's start and the context reader
 * behind each name, and looks closer at long words. Knows no policy and changes no text.
 */

import { findInCall } from '../grammars/call-arguments.ts';
import { readColon } from '../grammars/colon-places.ts';
import { findFlagPair, findFlagValue } from '../grammars/command-flags.ts';
import { ContextReader } from '../grammars/context.ts';
import { findBelowHeading } from '../grammars/headed-values.ts';
import { findSpoken } from '../grammars/keyword-secrets.ts';
import { findTold } from '../grammars/statement-secrets.ts';
import { findDriverPassword, findUserInfo } from '../grammars/url-credentials.ts';
import { findEscapedName } from '../names/escaped-names.ts';
import type { NameBook } from '../names/name-book.ts';
import type { NamePlace } from '../names/name-place.ts';
import { findNativeName } from '../names/native-names.ts';
import { outlineOf, type TelltaleWord, TelltaleWords, telltale } from '../names/telltale-words.ts';
import { findAwsSecret, findAzureSecret, findDiscordToken } from '../shapes/inner-sign-tokens.ts';
import { readBlockBack, readBlockFrom } from '../shapes/key-blocks.ts';
import { buildOf, findUnknownToken, isSpokenOf } from '../shapes/unknown-tokens.ts';
import { findAligned, mayBeAligned } from '../tables/aligned-columns.ts';
import { findInJsonColumns } from '../tables/json-columns.ts';
import { findBehindArrow, findBehindBlank, findInCell, findInRow } from '../tables/paired-values.ts';
import { findBound, findInserted } from '../tables/sql-values.ts';
import { findInColumns } from '../tables/table-columns.ts';
import { skipColorCode } from '../values/value-span.ts';
import { isPublicId } from '../values/values.ts';
import { alnum, base64Unit, characterTables, connector, event, gap, wordUnit } from './characters.ts';
import {
  type DecodedRun,
  decodeBase64Run,
  decodeBufferData,
  decodeContents,
  decodeHexRun,
  decodePrintedBuffer,
  decodeTypedArray,
  EscapeRuns,
} from './encoded-text.ts';
import { escapeMask, escapeShift, readEscape } from './escapes.ts';
import { decodeDump } from './hex-dump.ts';
import type { Finding, Page } from './page.ts';
import { headOf, type ShapeTable, shapeTable } from './shape-table.ts';

export interface ScannerOptions {
  names: NameBook;
  /** Look at names and their values too; without it only shapes are found. */
  context: boolean;
  /** Says whether decoded text holds a secret, and by which rule. */
  inside?: (text: string) => string | undefined;
}

/** For encoded text. */
const longWord = 16;
const none: Finding[] = [];

/** Behind `BEGIN`: a blank, or how a URL writes one. */
const isHeadGap = (unit: number): boolean => unit === 32 || unit === 37 || unit === 43;

export class Scanner {
  private readonly context: ContextReader;
  private readonly options: ScannerOptions;
  private readonly shapes: ShapeTable;
  private readonly place: NamePlace = { start: -1, end: -1, sign: 0, behind: 0, encoded: false };
  private readonly telltales = new TelltaleWords();
  private readonly escapes = new EscapeRuns();
  /** Rows of bytes, and of a table, are read to here. */
  private dumpsUntil = 0;
  private tableUntil = 0;
  /** Of the stretch that is scanned: no finding may start behind it, but for the one that crosses it. */
  private stop = 0;

  constructor(options: ScannerOptions) {
    this.options = options;
    this.context = new ContextReader(options.names);
    this.shapes = shapeTable();
  }

  /** Pushes what it finds from `from` on, in order. Answers with the position at or behind `stop` where it stands. */
  scan(page: Page, from: number, stop: number, out: Finding[]): number {
    const { classes } = characterTables();
    const { heads } = this.shapes;
    const { units } = page;
    const withContext = this.options.context;
    this.context.open(page, out);
    this.stop = stop;
    this.dumpsUntil = 0;
    this.tableUntil = 0;
    this.escapes.restart();
    // The last word, for a sign behind it: [nameStart, nameEnd), -1 when something stands between.
    let nameStart = -1;
    let nameEnd = -1;
    const { place } = this;
    const spoken = this.telltales.outlines;
    let i = from;
    if (withContext && from === 0) this.lineAt(page, 0, out);
    while (i < stop) {
      let unit = units[i]!;
      let kind = classes[unit]!;
      if (kind & wordUnit) {
        const start = i;
        let found = 0;
        let joined = false;
        // A word has parts between connectors; a shape may start at each.
        for (;;) {
          const head = headOf(unit, units[i + 1]!, units[i + 2]!);
          if ((heads[head >>> 5]! >>> (head & 31)) & 1 && this.shapes.mayStart(head, units[i + 3]!)) {
            found = this.shapeAt(page, i, start, out);
            if (found) break;
          }
          if (kind & alnum) {
            i += 1;
            // Two at a time: most words are longer.
            while (classes[units[i]!]! & classes[units[i + 1]!]! & alnum) i += 2;
            i += classes[units[i]!]! & alnum;
            unit = units[i]!;
            kind = classes[unit]!;
          }
          if (!(kind & connector)) break;
          joined = i > start;
          while (kind & connector) {
            unit = units[++i]!;
            kind = classes[unit]!;
          }
          if (!(kind & alnum)) break;
        }
        if (!found && i - start >= longWord) found = this.longWordAt(page, start, i, out);
        if (!found && withContext) {
          const outline = outlineOf(units, start, i);
          const telling =
            (spoken[outline >>> 5]! >>> (outline & 31)) & 1
              ? this.telltales.find(units, start, i, outline)
              : undefined;
          if (telling) found = this.spokenAt(page, telling, start, i, out);
          else if (
            units[start] === 45 &&
            i - start > 1 &&
            (unit === 32 ||
              unit === 34 ||
              unit === 39 ||
              unit === 92 ||
              unit === 0 ||
              units[start + 1] === 112)
          )
            found = this.pushFound(findFlagValue(page, this.options.names, start, i), out);
          else if (
            unit === 32 &&
            (units[i + 1] === 34 || units[i + 1] === 39 || (joined && units[i + 1]! > 32))
          )
            found = this.pushFound(findBehindBlank(page, this.options.names, start, i), out);
        }
        if (found > i) {
          i = found;
          nameStart = -1;
        } else if (found) {
          i = Math.max(found, start + 1);
          nameStart = -1;
        } else {
          nameStart = start;
          nameEnd = i;
        }
        continue;
      }
      if (kind & gap) {
        if (unit === 34 && units[i + 1] === 100 && units[i + 2] === 97) {
          const end = this.decoded(decodeBufferData(page, i), i, out);
          if (end) {
            i = end;
            continue;
          }
        }
        i += 1;
        continue;
      }
      if (kind & event) {
        const sign = i;
        let behind = i + 1;
        let encoded = false;
        if (unit === 92 || unit === 37 || unit === 38) {
          const packed = readEscape(units, i);
          if (packed === 0) {
            nameStart = -1;
            i += 1;
            continue;
          }
          behind = i + (packed >>> escapeShift);
          encoded = unit === 37;
          const stands = packed & escapeMask;
          if (stands === 27) {
            i = skipColorCode(units, behind);
            continue;
          }
          if (stands !== 61 && stands !== 58 && (unit !== 38 || stands !== 62)) {
            i = this.escapeAt(page, i, behind, stands, out);
            if (i !== behind || !(classes[stands]! & gap)) nameStart = -1;
            continue;
          }
          unit = stands;
        }
        // Most commas end a number or a value; only one behind a quote can list a name.
        if (unit === 44 && (nameStart < 0 || (sign === nameEnd && units[nameStart - 1] !== 10))) {
          nameStart = -1;
          i = behind;
          continue;
        }
        place.start = nameStart;
        place.end = nameEnd;
        place.sign = sign;
        place.behind = behind;
        place.encoded = encoded;
        i = Math.max(behind, this.signAt(page, unit, place, withContext, out));
        nameStart = -1;
        continue;
      }
      if (unit === 27) {
        i = skipColorCode(units, i + 1);
        continue;
      }
      if (unit === 10 && withContext) this.lineAt(page, i + 1, out);
      if (unit === 40 && nameEnd === i && units[i - 1] === 121 && units[i - 2] === 97) {
        const end = this.decoded(decodeTypedArray(page, i), i, out);
        if (end) i = end;
      }
      if (unit === 40 && nameEnd === i && nameStart >= 0 && withContext) {
        const end = findInCall(page, this.options.names, nameStart, nameEnd, out);
        if (end) i = end;
      }
      if (unit === 60 && (units[i + 1] === 66 || (units[i - 1] === 32 && units[i - 2] === 58))) {
        const isNamed = units[i + 1] === 66;
        const run = isNamed ? decodePrintedBuffer(page, i) : decodeContents(page, i);
        const end = this.decoded(run, i + 1, out);
        if (end) i = end;
      }
      nameStart = -1;
      i += 1;
    }
    return i;
  }

  /** A line starts at `start`, in the text or in a string. */
  private lineAt(page: Page, start: number, out: Finding[]): void {
    if (start >= this.stop) return;
    if (start >= this.tableUntil)
      this.tableUntil = findInColumns(page, this.options.names, start, this.stop, out);
    if (start >= this.tableUntil && mayBeAligned(page, start))
      this.tableUntil = findAligned(page, this.options.names, start, this.stop, out);
    if (page.units[start] === 48 && start >= this.dumpsUntil && this.options.inside) {
      const dump = decodeDump(page, start);
      if (dump) this.dumpsUntil = dump.end;
      this.decoded(dump, start, out);
    }
  }

  private spokenAt(page: Page, telling: TelltaleWord, start: number, to: number, out: Finding[]): number {
    const { word, kinds } = telling;
    const { names } = this.options;
    const one =
      (kinds & telltale.spoken ? findSpoken(page, word, start, to) : undefined) ??
      (kinds & telltale.told ? findTold(page, names, word, start, to) : undefined);
    if (one) return this.pushFound(one, out);
    if (kinds & telltale.columns) findInJsonColumns(page, names, to, out);
    const below = kinds & telltale.heading ? findBelowHeading(page, start, to, out) : 0;
    if (below) return below;
    const found =
      kinds & telltale.values
        ? findInserted(page, names, start, to)
        : kinds & telltale.bound
          ? findBound(page, names, start, to)
          : none;
    out.push(...found);
    return found.at(-1)?.end ?? 0;
  }

  /** A shape, or an armoured key, that starts at `i` in the word that starts at `wordStart`: its end, or 0. */
  private shapeAt(page: Page, i: number, wordStart: number, out: Finding[]): number {
    const { units } = page;
    if (units[i] === 66 && units[i + 1] === 69 && isHeadGap(units[i + 5]!)) {
      const end = readBlockFrom(page, i, out);
      if (end) return end;
    }
    if (units[i] === 69 && units[i + 1] === 78 && units[i + 3] === 32) {
      const found = readBlockBack(page, i, out.at(-1)?.end ?? 0);
      if (found) {
        out.push(found);
        return i + 4;
      }
    }
    const match = this.shapes.match(page, i, i === wordStart);
    if (!match) return 0;
    out.push({ start: match.bodyStart, end: match.end, rule: match.rule });
    if (match.rule === 'aws-access-key-id')
      return this.pushFound(findAwsSecret(page, match.end), out) || match.end;
    return match.end;
  }

  /** A word of some length: encoded text, or a credential's prefix that no rule knows. */
  private longWordAt(page: Page, start: number, end: number, out: Finding[]): number {
    const { text, units } = page;
    const before = units[start - 1];
    if (before !== 43 && before !== 47 && this.options.inside) {
      const run = decodeHexRun(page, start, end) ?? decodeBase64Run(page, start, end);
      const found = this.decoded(run, start, out);
      if (found) return found;
    }
    if (units[end] === 46 && units[start]! >= 77 && units[start]! <= 79) {
      const end = this.pushFound(findDiscordToken(page, start), out);
      if (end) return end;
    }
    const build = end - start > 400 ? 0 : buildOf(units, start, end);
    if (build === 0) return 0;
    const word = text.slice(start, end);
    if (isPublicId(word)) return 0;
    if (this.options.context && isSpokenOf(page, start, word, build, this.options.names)) {
      const { classes } = characterTables();
      let to = end;
      while ((classes[units[to]!]! & base64Unit || units[to] === 61) && to - end < 400) to += 1;
      out.push({ start, end: to, rule: 'spoken-of' });
      return to;
    }
    const unknown = findUnknownToken(page, start, word, build, this.options);
    return this.pushFound(unknown, out);
  }

  private decoded(run: DecodedRun | undefined, start: number, out: Finding[]): number {
    const rule = run && this.options.inside?.(run.text);
    if (!run || rule === undefined) return 0;
    out.push({ start: run.start ?? start, end: run.end, rule, quote: run.quote });
    return run.end;
  }

  /** An escape that is no sign. Answers where reading goes on: `behind`, or further when a secret was found. */
  private escapeAt(page: Page, i: number, behind: number, stands: number, out: Finding[]): number {
    if (stands === 10 && this.options.context && page.units[i] === 92) this.lineAt(page, behind, out);
    if (stands === 34 && page.units[behind] === 100 && page.units[behind + 1] === 97)
      return this.decoded(decodeBufferData(page, behind - 1), behind, out) || behind;
    if (!(characterTables().classes[stands]! & alnum)) return behind;
    return this.decoded(this.escapes.at(page, i), i, out) || this.escapedNameAt(page, i) || behind;
  }

  private escapedNameAt(page: Page, i: number): number {
    const found = this.options.context && page.units[i] === 92 ? findEscapedName(page, i) : undefined;
    const verdict = found && this.options.names.judge(found.name);
    return verdict && verdict.strength >= 2 ? this.context.readUnder(verdict, found.place) : 0;
  }

  /** A sign stands at `place.sign`: `:` `=` `,` `>` `$` `~`. Answers where reading goes on. */
  private signAt(page: Page, unit: number, place: NamePlace, withContext: boolean, out: Finding[]): number {
    const { units } = page;
    if (withContext && (unit === 58 || unit === 61 || unit > 255)) {
      const native = isNative(units, place) ? findNativeName(page, place.sign) : undefined;
      const end = native && this.context.readUnder(native, place, unit > 0x3000 && unit < 0xff00);
      if (end) return end;
    }
    if (unit === 36) return this.shapeAt(page, place.sign, place.sign, out) || place.behind;
    if (unit === 126) return this.pushFound(findAzureSecret(page, place.sign), out) || place.behind;
    if (unit === 64) return this.pushFound(findDriverPassword(page, place.sign), out) || place.behind;
    if (unit === 58 && units[place.behind] === 47 && units[place.behind + 1] === 47 && !place.encoded) {
      return this.pushFound(findUserInfo(page, place.sign), out) || place.behind;
    }
    if (unit === 58 && (place.end === place.sign || mayFollowColon(units[place.behind]!))) {
      const end = readColon(page, this.options.names, place, out);
      if (end) return end;
    }
    if (!withContext) return place.behind;
    if (unit === 62) {
      const end =
        units[place.sign - 1] === 45 && units[place.sign - 2] === 32
          ? this.pushFound(findBehindArrow(page, this.options.names, place), out)
          : 0;
      return end || this.context.readElement(place);
    }
    if (place.start < 0) return place.behind;
    if (unit === 124 || unit === 0x2502)
      return this.pushFound(findInCell(page, this.options.names, place), out) || place.behind;
    if (place.sign - place.end > 12) return place.behind;
    if (unit === 44 && place.sign === place.end)
      return this.pushFound(findInRow(page, this.options.names, place), out) || place.behind;
    if (unit === 44) return this.context.readListed(place);
    if (unit === 61 && units[place.start] === 45) {
      const end = this.pushFound(findFlagPair(page, place), out);
      if (end) return end;
    }
    return this.context.readSigned(place);
  }

  private pushFound(found: Finding | undefined, out: Finding[]): number {
    if (!found) return 0;
    out.push(found);
    return found.end;
  }
}

/** Of a colon behind a quote or a bracket: a digit, a star or a line's end. */
const mayFollowColon = (unit: number): boolean =>
  (unit < 58 && unit > 47) || unit === 42 || unit === 10 || unit === 13;

/** Something that is not ASCII stands in or right before the word before the sign. */
function isNative(units: Uint16Array, { start, sign }: NamePlace): boolean {
  if (start > 0) return units[start - 1]! >= 128 || units[sign - 1]! >= 128;
  return start < 0 && (units[sign - 1]! >= 128 || units[sign - 2]! >= 128);
}
