/**
 * Walks over a page word by word and stops only at places that need a closer look, a few in a hundred words. A separate loop
 * that contains nothing but comparisons: it may stop in vain, but must not skip a place where a detector would find something. The
 * kernel does the same for long texts, and stops less often.
 */

import { hasLiteral } from '../grammars/call-arguments.ts';
import { isPortField, mayHoldPassword } from '../grammars/url-credentials.ts';
import type { NameBook } from '../names/name-book.ts';
import { isStrongPair, pairStart } from '../names/name-surroundings.ts';
import { outlineOf } from '../names/telltale-words.ts';
import { integrityEnd, mayBeLongSecret } from '../shapes/unknown-tokens.ts';
import { mayBeNative } from '../speech/native-names.ts';
import { isBesideNative } from '../speech/said-values.ts';
import { mayBeGlued } from '../speech/said-words.ts';
import { mayOpenTable } from '../tables/first-lines.ts';
import { alnum, characterTables, connector, event, gap, hexUnit, wordUnit } from './characters.ts';
import { startsEntity } from './escapes.ts';
import { field, type WalkKernel, walkMemory } from './kernel/walk-kernel.ts';
import { headOf, type ShapeTable } from './shape-table.ts';

/** Why the walk stopped. */
export const walkStop = {
  end: 0,
  /** A part of a word starts like a shape; `nameStart` is the start of the word. */
  shape: 1,
  /** The end of a word that is long, announces something, is a flag or is followed by a blank and a value. */
  word: 2,
  /** A separator or an escape. */
  event: 3,
  /** A line's end, an opening bracket, a colour code, or a possible printed buffer. */
  other: 4,
} as const;

/** The least length of encoded text. */
export const longWord = 16;

export class WordWalk {
  /** The reason for the stop; one of `walkStop`. */
  stop = 0;
  /**
   * The word at or around the stop, or the last one before a sign: [nameStart, nameEnd). `nameStart` is -1 if something is
   * between the word and the stop.
   */
  nameStart = -1;
  nameEnd = -1;
  /** The word has several parts. */
  isJoined = false;
  private readonly classes: Uint8Array;
  private readonly shapes: ShapeTable;
  private readonly outlines: Int32Array;
  private readonly names: NameBook;
  /** Walks over pages in its own memory. */
  kernel: WalkKernel | undefined;
  /** Before this position, other names matter too, because they are in an object of secrets. */
  groupEnd = 0;
  /** Before this position, a `>` may end the element after a label. */
  labelEnd = 0;
  /** Before this position, a name may belong to the label before it. */
  fieldEnd = 0;
  /** Of the page. */
  private text = '';

  /** `outlines`: a bit for each outline of a telltale word. */
  constructor(shapes: ShapeTable, outlines: Int32Array, names: NameBook) {
    this.classes = characterTables().classes;
    this.shapes = shapes;
    this.outlines = outlines;
    this.names = names;
  }

  /** For a walk over this text from its start. */
  restart(text: string): void {
    this.text = text;
    this.groupEnd = 0;
    this.labelEnd = 0;
    this.fieldEnd = 0;
    this.nameStart = -1;
    this.nameEnd = -1;
  }

  /**
   * Continues at `i`, and stops at or after `to`. `isWithin`: `i` is where it stopped for a shape, in the word that starts at
   * `nameStart`, and there was no shape. Returns the position.
   */
  next(units: Uint16Array, i: number, to: number, isWithin: boolean): number {
    const { kernel } = this;
    if (kernel !== undefined && kernel.units === units) return this.nextByKernel(kernel, i, to, isWithin);
    const { classes, outlines, shapes } = this;
    const { heads } = shapes;
    let { nameStart, nameEnd } = this;
    let isKnown = isWithin;
    while (i < to || isKnown) {
      let unit = units[i]!;
      let kind = classes[unit]!;
      if (kind & wordUnit) {
        if (!isKnown) nameStart = i;
        let isJoined = isKnown && this.isJoined;
        // A word has parts between connectors; a shape may start at each part.
        for (;;) {
          if (!isKnown) {
            const head = headOf(unit, units[i + 1]!, units[i + 2]!);
            if ((heads[head >>> 5]! >>> (head & 31)) & 1 && shapes.mayStart(head, units, i))
              return this.stand(walkStop.shape, i, nameStart, i, isJoined);
          }
          isKnown = false;
          if (kind & alnum) {
            i += 1;
            // Two at a time, because most words are longer.
            while (classes[units[i]!]! & classes[units[i + 1]!]! & alnum) i += 2;
            i += classes[units[i]!]! & alnum;
            unit = units[i]!;
            kind = classes[unit]!;
          }
          if (!(kind & connector)) break;
          isJoined = i > nameStart;
          while (kind & connector) {
            unit = units[++i]!;
            kind = classes[unit]!;
          }
          if (!(kind & alnum)) break;
        }
        nameEnd = i;
        const integrity = i - nameStart >= longWord ? integrityEnd(units, nameStart) : 0;
        if (integrity) {
          nameStart = -1;
          i = integrity;
          continue;
        }
        const outline = outlineOf(units, nameStart, i);
        if (
          (outlines[outline >>> 5]! >>> (outline & 31)) & 1 ||
          (i - nameStart >= longWord && mayBeLongSecret(units, nameStart, i)) ||
          (unit === 32 && (units[i + 1] === 34 || units[i + 1] === 39 || (isJoined && units[i + 1]! > 32))) ||
          (units[nameStart] === 45 && i - nameStart > 1) ||
          isBesideNative(units, nameStart, i) ||
          mayBeGlued(units, nameStart, i) ||
          (isJoined && isMentioned(unit, units[i + 1]!, units[i + 2]!))
        )
          return this.stand(walkStop.word, i, nameStart, i, isJoined);
        continue;
      }
      if (kind & gap) {
        if (unit !== 34 || units[i + 1] !== 100 || units[i + 2] !== 97) {
          i += 1;
          continue;
        }
      } else if (kind & event) {
        // `password ||= x`
        if ((unit === 124 || unit === 38) && units[i + 1] === unit && units[i + 2] === 61) {
          i += 2;
          continue;
        }
        if (unit === 92) {
          const idle = idleEscape(units, i);
          if (idle) {
            if (idle < 0) nameStart = -1;
            i += Math.abs(idle);
            continue;
          }
        }
        if (!this.isIdle(units, unit, i, nameStart, nameEnd))
          return this.stand(walkStop.event, i, nameStart, nameEnd, false);
        nameStart = -1;
        i += 1;
        continue;
      } else if (
        (unit !== 10 || !mayOpenTable(units, i + 1)) &&
        unit !== 27 &&
        (unit !== 40 || i !== nameEnd || !mayBeCall(units, i)) &&
        (unit !== 60 || (units[i + 1] !== 66 && (units[i - 1] !== 32 || units[i - 2] !== 58)))
      ) {
        nameStart = -1;
        i += 1;
        continue;
      }
      return this.stand(walkStop.other, i, nameStart, nameEnd, false);
    }
    return this.stand(walkStop.end, i, nameStart, nameEnd, false);
  }

  private nextByKernel(kernel: WalkKernel, from: number, to: number, isWithin: boolean): number {
    const { state, units } = kernel;
    state[field.nameStart] = this.nameStart;
    state[field.nameEnd] = this.nameEnd;
    state[field.isJoined] = this.isJoined ? 1 : 0;
    state[field.groupEnd] = this.groupEnd;
    state[field.labelEnd] = this.labelEnd;
    state[field.fieldEnd] = this.fieldEnd;
    for (let i = from; ; ) {
      i = kernel.next(i, to, isWithin);
      const stop = state[field.stop]!;
      const nameStart = state[field.nameStart]!;
      const nameEnd = state[field.nameEnd]!;
      if (stop === walkStop.word && units[i] === 32 && this.names.isHarmless(units, nameStart, i))
        kernel.remember(nameStart, i, walkMemory.harmless);
      if (stop === walkStop.event && nameStart >= 0) {
        // A name that the kernel has not seen yet, or has forgotten.
        const as = this.names.kindOf(this.text, units, nameStart, nameEnd);
        if (as > 0) kernel.remember(nameStart, nameEnd, as);
        if (as === walkMemory.weak || as === walkMemory.key) this.rememberPair(kernel, nameStart, nameEnd);
        if (this.isIdle(units, units[i]!, i, nameStart, nameEnd)) {
          state[field.nameStart] = -1;
          i += 1;
          isWithin = false;
          continue;
        }
      }
      return this.stand(stop, i, nameStart, nameEnd, state[field.isJoined] === 1);
    }
  }

  /** The word before a weak name makes nothing more of it: `const key`, `error.code`. */
  private rememberPair(kernel: WalkKernel, nameStart: number, nameEnd: number): void {
    const start = pairStart(kernel.units, nameStart);
    if (start >= 0 && !isStrongPair(this.names, this.text.slice(start, nameEnd), this.text[nameStart - 1]!))
      kernel.remember(start, nameEnd, walkMemory.pair);
  }

  /** The sign at `i` can be skipped: most signs follow names that are not sensitive. */
  private isIdle(units: Uint16Array, unit: number, i: number, nameStart: number, nameEnd: number): boolean {
    if (unit === 44) {
      // Most commas end a number or a value; only one after a quote can list a name.
      if (nameStart < 0 || (i === nameEnd && units[nameStart - 1] !== 10)) return true;
    } else if (unit === 61) {
      if (nameStart < 0) return !(units[i - 1]! > 127 || units[i - 2]! > 127);
      if (units[nameStart] === 45) return false;
    } else if (unit === 124) {
      if (nameStart < 0) return true;
    } else if (unit === 38) return !startsEntity(units[i + 1]!);
    else if (unit === 37) return !(this.classes[units[i + 1]!]! & this.classes[units[i + 2]!]! & hexUnit);
    else if (unit === 64) return !mayHoldPassword(units, i);
    else if (unit === 36) return !this.mayStartShape(units, i);
    else if (unit === 126) return units[i - 1] !== 81;
    else if (unit === 62) return i >= this.labelEnd && isIdleBracket(units, i, nameStart, nameEnd);
    else if (unit !== 58 || nameStart < 0 || mayStandInColon(units, i, nameStart, nameEnd)) return false;
    if (nameStart < this.groupEnd) return false;
    // `password is: x`
    if (nameEnd - nameStart === 2 && units[nameStart] === 105 && units[nameStart + 1] === 115) return false;
    if (mayBeNative(units, i, nameStart)) return false;
    return this.names.isHarmless(units, nameStart, nameEnd);
  }

  private mayStartShape(units: Uint16Array, i: number): boolean {
    const { shapes } = this;
    const head = headOf(units[i]!, units[i + 1]!, units[i + 2]!);
    return ((shapes.heads[head >>> 5]! >>> (head & 31)) & 1) !== 0 && shapes.mayStart(head, units, i);
  }

  private stand(stop: number, at: number, nameStart: number, nameEnd: number, isJoined: boolean): number {
    this.stop = stop;
    this.nameStart = nameStart;
    this.nameEnd = nameEnd;
    this.isJoined = isJoined;
    return at;
  }
}

/** `[DB_PASS] is x`, `%DB_PASS% resolved to x` */
export const isMentioned = (unit: number, behind: number, next: number): boolean =>
  behind === 32 &&
  (unit === 93 || unit === 125 || unit === 37 || unit === 96 || unit === 34 || unit === 39) &&
  (next === 105 || next === 119 || next === 114 || next === 115 || next === 104);

/**
 * The length of an escape that can be skipped, negative if the name before it has ended; 0 for any other: nearly all are
 * quotes, tabs, ends of lines before a line that starts no table, or signs of regular expressions.
 */
function idleEscape(units: Uint16Array, i: number): number {
  const next = units[i + 1]!;
  if (next === 34) return units[i + 2] === 100 ? 0 : 2;
  if (next === 110 || next === 114) return mayOpenTable(units, i + 2) ? 0 : -2;
  if (next === 39 || next === 96 || next === 116) return 2;
  // `https:\/\/user:password@host`
  if (next === 47) return units[i - 1] === 58 ? 0 : -2;
  if (next === 117) return lengthOfForeign(units, i + 2);
  const isRead = next === 92 || next === 118 || next === 120 || next === 102;
  return isRead ? 0 : -1;
}

/** `\u2028`: of a character that is not in Latin-1. What follows is at `start`. */
function lengthOfForeign(units: Uint16Array, start: number): number {
  const { classes } = characterTables();
  const kinds = classes[units[start]!]! & classes[units[start + 1]!]! & classes[units[start + 2]!]!;
  if (!(kinds & classes[units[start + 3]!]! & hexUnit)) return -1;
  return units[start] === 48 && units[start + 1] === 48 ? 0 : -6;
}

/** The `>` at `i` ends no tag and no attribute, and belongs to no arrow: `=>`, `a > b`. */
function isIdleBracket(units: Uint16Array, i: number, nameStart: number, nameEnd: number): boolean {
  const before = units[i - 1]!;
  if (before === 34 || before === 39 || (before === 45 && units[i - 2] === 32)) return false;
  if (nameStart < 0 || nameEnd !== i) return true;
  // `<`, or the end of one of its escapes, or of a namespace.
  const lead = units[nameStart - 1]!;
  return lead !== 60 && lead !== 59 && lead !== 99 && lead !== 67 && lead !== 58;
}

/** The bracket at `i`, after a name, may open a call with a literal, or a printed `Uint8Array(`. */
const mayBeCall = (units: Uint16Array, i: number): boolean =>
  (units[i - 1] === 121 && units[i - 2] === 97) || hasLiteral(units, i + 1);

/** The text around the colon at `i` allows one of the forms of `readColon`, other than a name and its value. */
function mayStandInColon(units: Uint16Array, i: number, nameStart: number, nameEnd: number): boolean {
  const next = units[i + 1]!;
  if (next === 10 || next === 13 || (next === 47 && units[i + 2] === 47) || isPortField(units, i + 1))
    return true;
  // `[mail.host]:587 user:password`
  if (units[i - 1] === 93 && next > 47 && next < 58) return true;
  if (nameEnd !== i) return false;
  const first = units[nameStart]!;
  const length = nameEnd - nameStart;
  // `-uuser:`, `12345678:` and `bot12345678:`, `s:`, `data:` and `thin:`, `Private-Lines:`, a digest.
  return (
    first === 45 ||
    (first < 58 && length > 7) ||
    (first === 98 && length > 7) ||
    (first === 115 && length === 1) ||
    (length === 4 && (first === 100 || first === 116)) ||
    (first === 80 && length === 13) ||
    length === 32
  );
}
