/**
 * The single pass over a page. At each stop of the walk over its words it calls the shape table, the context reader, and the
 * detectors for what the word or sign may announce. Applies no policy and changes no text.
 */

import { findInCall, takesNoCredential } from '../grammars/call-arguments.ts';
import { readColon } from '../grammars/colon-places.ts';
import { ContextReader } from '../grammars/context.ts';
import { findDriverPassword, findUserInfo } from '../grammars/url-credentials.ts';
import { findEscapedName } from '../names/escaped-names.ts';
import type { NameBook } from '../names/name-book.ts';
import type { NamePlace } from '../names/name-place.ts';
import { telltaleWords } from '../names/telltale-words.ts';
import { findAzureSecret, findDiscordToken, findSecretHalf } from '../shapes/inner-sign-tokens.ts';
import { readBlockBack, readBlockFrom } from '../shapes/key-blocks.ts';
import { buildOf, findUnknownToken, isKeyInHex, isSpokenOf } from '../shapes/unknown-tokens.ts';
import { findNativeName, mayBeNative } from '../speech/native-names.ts';
import { findSaidGlued, findSaidNatively, isBesideNative } from '../speech/said-values.ts';
import { mayBeGlued } from '../speech/said-words.ts';
import { findFlagPair, findFlagValue } from '../statements/command-flags.ts';
import { findAligned } from '../tables/aligned-columns.ts';
import { mayBeAligned, opensPair } from '../tables/first-lines.ts';
import {
  findBehindArrow,
  findBehindBlank,
  findInCell,
  findInPair,
  findInRow,
  findMentioned,
} from '../tables/paired-values.ts';
import { findInColumns } from '../tables/table-columns.ts';
import { isPublicId } from '../values/public-ids.ts';
import { skipColorCode } from '../values/value-span.ts';
import { readAnnounced } from './announced.ts';
import { alnum, base64Unit, characterTables, gap } from './characters.ts';
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
import { type WalkKernel, walkMemory } from './kernel/walk-kernel.ts';
import type { Finding, Page } from './page.ts';
import { rememberedStart, type ShapeTable, shapeTable } from './shape-table.ts';
import { isMentioned, longWord, WordWalk, walkStop } from './word-walk.ts';

export interface ScannerOptions {
  names: NameBook;
  /** Also read names and their values; otherwise only shapes are found. */
  context: boolean;
  /** The rule of a secret in decoded text; undefined if it contains none. */
  inside?: (text: string) => string | undefined;
}

/** What may follow a flag: a blank, a quote, an escaped quote, a zero byte between arguments, or the end. */
const endsFlag = (unit: number): boolean =>
  unit === 32 || unit === 34 || unit === 39 || unit === 92 || unit === 0;

/** What may follow `BEGIN`: a blank, also as it is written in a URL. */
const isHeadGap = (unit: number): boolean => unit === 32 || unit === 37 || unit === 43;

export class Scanner {
  private readonly context: ContextReader;
  private readonly options: ScannerOptions;
  private readonly shapes: ShapeTable;
  private readonly place: NamePlace = { start: -1, end: -1, sign: 0, behind: 0, encoded: false };
  private readonly telltales = telltaleWords();
  private readonly walk: WordWalk;
  private readonly escapes = new EscapeRuns();
  /** Hex dumps and tables have been read up to these positions. */
  private dumpsUntil = 0;
  private tableUntil = 0;
  /** End of the stretch that is scanned: findings start before it, and the last one may extend past it. */
  private stop = 0;

  constructor(options: ScannerOptions) {
    this.options = options;
    this.context = new ContextReader(options.names);
    this.shapes = shapeTable();
    this.walk = new WordWalk(this.shapes, this.telltales.outlines, options.names);
  }

  /** Walks over pages in the kernel's memory by the kernel. */
  walkBy(kernel: WalkKernel | undefined): void {
    this.walk.kernel = kernel;
  }

  /** Pushes the findings from `from` on, in order. Returns the position where the scan ended, at or after `stop`. */
  scan(page: Page, from: number, stop: number, out: Finding[]): number {
    const { units } = page;
    const { walk } = this;
    this.context.open(page, out);
    this.stop = stop;
    this.dumpsUntil = 0;
    this.tableUntil = 0;
    this.escapes.restart();
    walk.restart(page.text);
    if (this.options.context && from === 0) this.lineAt(page, 0, out);
    let i = from;
    let isWithin = false;
    for (;;) {
      i = walk.next(units, i, stop, isWithin);
      isWithin = false;
      if (walk.stop === walkStop.word) i = this.wordAt(page, i, out);
      else if (walk.stop === walkStop.event) i = this.eventAt(page, i, out);
      else if (walk.stop === walkStop.other) i = this.otherAt(page, i, out);
      else if (walk.stop === walkStop.end) return i;
      else {
        const found = this.shapeAt(page, i, walk.nameStart, out);
        isWithin = found === 0;
        if (found) i = this.leaveWord(i, found);
      }
    }
  }

  /** Leaves the walk's word after a finding that ends at `found`. Returns the position where the scan continues. */
  private leaveWord(i: number, found: number): number {
    const { nameStart } = this.walk;
    this.walk.nameStart = -1;
    return found > i ? found : Math.max(found, nameStart + 1);
  }

  /** Handles a word that ends at `i`. Returns the position where the scan continues. */
  private wordAt(page: Page, i: number, out: Finding[]): number {
    const { units } = page;
    const { walk, telltales, options } = this;
    const start = walk.nameStart;
    const unit = units[i]!;
    let found = i - start >= longWord ? this.longWordAt(page, start, i, out) : 0;
    if (!found && options.context) {
      const telling = telltales.find(units, start, i);
      if (!telling && walk.kernel && telltales.mayBe(units, start, i))
        walk.kernel.remember(start, i, walkMemory.plain);
      const isFlag = units[start] === 45 && i - start > 1 && (endsFlag(unit) || units[start + 1] === 112);
      if (telling) found = readAnnounced(page, options.names, telling, start, i, out);
      else if (isFlag) found = this.pushFound(findFlagValue(page, options.names, start, i), out);
      if (
        !found &&
        !isFlag &&
        unit === 32 &&
        (units[i + 1] === 34 || units[i + 1] === 39 || (walk.isJoined && units[i + 1]! > 32))
      )
        found = this.pushFound(findBehindBlank(page, options.names, start, i), out);
      if (!found && walk.isJoined && isMentioned(unit, units[i + 1]!, units[i + 2]!))
        found = this.pushFound(findMentioned(page, options.names, start, i), out);
      if (!found && mayBeGlued(units, start, i)) found = this.pushFound(findSaidGlued(page, start, i), out);
      if (!found && isBesideNative(units, start, i))
        found = this.pushFound(findSaidNatively(page, start), out);
    }
    return found ? this.leaveWord(i, found) : i;
  }

  /** Handles a separator or an escape at `i`. Returns the position where the scan continues. */
  private eventAt(page: Page, i: number, out: Finding[]): number {
    const { units } = page;
    const { place, walk } = this;
    let unit = units[i]!;
    let behind = i + 1;
    let encoded = false;
    if (unit === 92 || unit === 37 || unit === 38) {
      const packed = readEscape(units, i);
      if (packed === 0) {
        walk.nameStart = -1;
        return behind;
      }
      behind = i + (packed >>> escapeShift);
      encoded = unit === 37;
      const stands = packed & escapeMask;
      if (stands === 27) return skipColorCode(units, behind);
      if (stands !== 61 && stands !== 58 && (unit !== 38 || stands !== 62)) {
        const end = this.escapeAt(page, i, behind, stands, out);
        this.tellWalk();
        if (end !== behind || !(characterTables().classes[stands]! & gap)) walk.nameStart = -1;
        return end;
      }
      unit = stands;
    }
    place.start = walk.nameStart;
    place.end = walk.nameEnd;
    place.sign = i;
    place.behind = behind;
    place.encoded = encoded;
    walk.nameStart = -1;
    const end = this.signAt(page, unit, place, this.options.context, out);
    this.tellWalk();
    return Math.max(behind, end);
  }

  private tellWalk(): void {
    const { walk, context } = this;
    walk.groupEnd = context.groupEnd;
    walk.labelEnd = context.labelEnd;
    walk.fieldEnd = context.fieldEnd;
  }

  /**
   * Handles a line's end, an opening bracket, a colour code or a printed buffer at `i`. Returns the position where the scan
   * continues.
   */
  private otherAt(page: Page, i: number, out: Finding[]): number {
    const { units } = page;
    const { walk, options } = this;
    const unit = units[i]!;
    if (unit === 27) return skipColorCode(units, i + 1);
    if (unit === 34) return this.decoded(decodeBufferData(page, i), i, out) || i + 1;
    let end = 0;
    if (unit === 10 && options.context) this.lineAt(page, i + 1, out);
    if (unit === 40 && units[i - 1] === 121 && units[i - 2] === 97)
      end = this.decoded(decodeTypedArray(page, i), i, out);
    if (!end && unit === 40 && walk.nameStart >= 0 && options.context)
      if (takesNoCredential(page, walk.nameStart, walk.nameEnd))
        walk.kernel?.remember(walk.nameStart, walk.nameEnd, walkMemory.callee);
      else end = findInCall(page, options.names, walk.nameStart, walk.nameEnd, out);
    if (unit === 60) {
      const run = units[i + 1] === 66 ? decodePrintedBuffer(page, i) : decodeContents(page, i);
      end = this.decoded(run, i + 1, out);
    }
    walk.nameStart = -1;
    return (end || i) + 1;
  }

  /** Handles a line that starts at `start`, in the text or within a string. */
  private lineAt(page: Page, start: number, out: Finding[]): void {
    if (start >= this.stop) return;
    if (start >= this.tableUntil)
      this.tableUntil = findInColumns(page, this.options.names, start, this.stop, out);
    if (start >= this.tableUntil && mayBeAligned(page.units, start))
      this.tableUntil = findAligned(page, this.options.names, start, this.stop, out);
    if (opensPair(page.units, start)) this.pushFound(findInPair(page, start), out);
    if (page.units[start] === 48 && start >= this.dumpsUntil && this.options.inside) {
      const dump = decodeDump(page, start);
      if (dump) this.dumpsUntil = dump.end;
      this.decoded(dump, start, out);
    }
  }

  /** Looks for a shape or an armoured key at `i` in the word that starts at `wordStart`. Returns its end, or 0. */
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
    if (!match) {
      const { kernel } = this.walk;
      if (kernel && !this.shapes.hasStart(page, i)) kernel.remember(i, i + rememberedStart, walkMemory.start);
      return 0;
    }
    out.push({ start: match.bodyStart, end: match.end, rule: match.rule });
    return this.pushFound(findSecretHalf(page, match.rule, match.end), out) || match.end;
  }

  /** Handles a long word: encoded text, or a credential with a prefix that no rule knows. */
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
    if (build === 0)
      return this.options.context && isKeyInHex(page, start, end)
        ? this.pushFound({ start, end, rule: 'key' }, out)
        : 0;
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

  /** Handles an escape that is not a sign. Returns `behind`, or a later position after a secret. */
  private escapeAt(page: Page, i: number, behind: number, stands: number, out: Finding[]): number {
    if (stands === 10 && this.options.context && page.units[i] === 92) this.lineAt(page, behind, out);
    if (stands === 34 && page.units[behind] === 100 && page.units[behind + 1] === 97)
      return this.decoded(decodeBufferData(page, behind - 1), behind, out) || behind;
    if (stands === 47 && page.units[i - 1] === 58) return this.escapedAddressAt(page, behind, out);
    if (!(characterTables().classes[stands]! & alnum)) return behind;
    return this.decoded(this.escapes.at(page, i), i, out) || this.escapedNameAt(page, i) || behind;
  }

  /** `postgres:\/\/user:password@host`: JSON may escape slashes, as PHP does. The first one ends at `behind`. */
  private escapedAddressAt(page: Page, behind: number, out: Finding[]): number {
    const packed = page.units[behind] === 92 ? readEscape(page.units, behind) : 0;
    if ((packed & escapeMask) !== 47) return behind;
    const start = behind + (packed >>> escapeShift);
    const found = findUserInfo(page, start);
    // A regular expression escapes them too: `/^https?:\/\/([^:]+):([^@]+)@/`.
    if (!found || /[()[\]{}*]|\.\+/.test(page.text.slice(start, found.end))) return start;
    return this.pushFound(found, out) || start;
  }

  private escapedNameAt(page: Page, i: number): number {
    const found = this.options.context && page.units[i] === 92 ? findEscapedName(page, i) : undefined;
    const verdict = found && this.options.names.judge(found.name);
    return verdict && verdict.strength >= 2 ? this.context.readUnder(verdict, found.place) : 0;
  }

  /** Handles a sign at `place.sign`: `:` `=` `,` `>` `$` `~`. Returns the position where the scan continues. */
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
      return this.pushFound(findUserInfo(page, place.sign + 3), out) || place.behind;
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

/** What may follow a colon after a quote or a bracket: a digit, a star or a line's end. */
const mayFollowColon = (unit: number): boolean =>
  (unit < 58 && unit > 47) || unit === 42 || unit === 10 || unit === 13;

/** The words before the sign contain, or follow, a character that is not ASCII. */
function isNative(units: Uint16Array, { start, sign }: NamePlace): boolean {
  if (start >= 0) return mayBeNative(units, sign, start);
  return units[sign - 1]! >= 128 || units[sign - 2]! >= 128;
}
