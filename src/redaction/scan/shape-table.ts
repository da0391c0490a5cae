/**
 * Finds the shape that starts at a position: three units are hashed to a bit that is clear for nearly all text, then starts
 * are compared, then one sticky expression is tried. Built once per process, on first use.
 */

import { allShapes } from '../shapes/index.ts';
import type { Shape } from '../shapes/shape.ts';
import { looksRandom } from '../values/randomness.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { alnum, base64Unit, characterTables, connector, wordUnit } from './characters.ts';
import type { Finding, Page } from './page.ts';

interface Entry {
  shape: Shape;
  start: string;
  /** The fourth unit of the start, or 0: most starts with the same first three units differ here. */
  fourth: number;
  body: RegExp;
  /** A whole-word shape with a start that nothing else has: also recognized after a `-` or `_` within a word. */
  standsOut: boolean;
}

export interface ShapeMatch {
  rule: string;
  /** Where the withheld part starts: after the public start. */
  bodyStart: number;
  end: number;
}

/** Hashes three units to sixteen bits. */
export function headOf(a: number, b: number, c: number): number {
  return (Math.imul(a, 0x6d2b) ^ Math.imul(b, 0x1f35) ^ Math.imul(c, 0x9d)) & 0xffff;
}

const longHeadOf = (head: number, fourth: number): number => (head ^ Math.imul(fourth, 0x2b35)) & 0xffff;

/** The same with one and with two more units. */
const fifthHeadOf = (long: number, fifth: number): number => (long ^ Math.imul(fifth, 0x3d4d)) & 0xffff;
const sixthHeadOf = (fifth: number, sixth: number): number => (fifth ^ Math.imul(sixth, 0x4f6b)) & 0xffff;
const seventhHeadOf = (sixth: number, seventh: number): number =>
  (sixth ^ Math.imul(seventh, 0x5b91)) & 0xffff;
const eighthHeadOf = (seventh: number, eighth: number): number =>
  (seventh ^ Math.imul(eighth, 0x63c7)) & 0xffff;

/** Another hash of the first three units, for starts that have no more: words that share the first one are common. */
const otherHeadOf = (a: number, b: number, c: number): number =>
  (Math.imul(a, 0x2f0b) ^ Math.imul(b, 0x83d) ^ Math.imul(c, 0x7b51)) & 0xffff;

const hasBit = (table: Int32Array, bit: number): boolean => ((table[bit >>> 5]! >>> (bit & 31)) & 1) !== 0;
const setBit = (table: Int32Array, bit: number): void => {
  table[bit >>> 5]! |= 1 << (bit & 31);
};

/** Of a word that has only the hashes of a start, as many units are remembered: `response` alone begins like `response="`. */
export const rememberedStart = 10;

/** Armoured keys start like this; the scanner reads them itself. */
const armour = ['BEGI', 'END '];

export class ShapeTable {
  /** A bit for each hash of the first three units of a start. Small, because every word is looked up in it. */
  readonly heads = new Int32Array(2048);
  /** A bit for each hash of the first four units, or of three for shorter starts. */
  readonly longHeads = new Int32Array(2048);
  /** For starts of four or more units: a bit for each hash of the first six, or of all. */
  readonly deepHeads = new Int32Array(2048);
  /**
   * For starts of six or more units: a bit for each hash of the first eight, or of all. Common words begin like a start:
   * `default`, `github.com`, `package`. For starts of less than four: a bit for the other hash of three.
   */
  readonly lastHeads = new Int32Array(2048);
  private readonly groups = new Map<number, Entry[]>();

  constructor(shapes: Shape[]) {
    for (const shape of shapes) {
      const body = new RegExp(shape.body.source, `${shape.body.flags.replace('y', '')}y`);
      for (const start of shape.starts) {
        const standsOut = shape.wholeWord === true && /^[A-Za-z]{4}/.test(start);
        this.add({ shape, start, fourth: start.charCodeAt(3) || 0, body, standsOut });
      }
    }
    for (const word of armour) {
      const head = headOf(word.charCodeAt(0), word.charCodeAt(1), word.charCodeAt(2));
      this.mark(head, word);
    }
    // Longer starts first: `sk-ant-` before `sk-`.
    for (const group of this.groups.values()) group.sort((a, b) => b.start.length - a.start.length);
  }

  private add(entry: Entry): void {
    const { start } = entry;
    const [a, b] = [start.charCodeAt(0), start.charCodeAt(1)];
    if (start.length > 2) this.addAt(headOf(a, b, start.charCodeAt(2)), entry);
    else
      for (let any = 33; any < 127; any++) {
        setBit(this.lastHeads, otherHeadOf(a, b, any));
        this.addAt(headOf(a, b, any), entry);
      }
  }

  private addAt(head: number, entry: Entry): void {
    this.mark(head, entry.start);
    const group = this.groups.get(head);
    if (!group) this.groups.set(head, [entry]);
    else if (!group.includes(entry)) group.push(entry);
  }

  private mark(head: number, start: string): void {
    const { length } = start;
    setBit(this.heads, head);
    if (length < 4) {
      setBit(this.longHeads, head);
      if (length === 3)
        setBit(this.lastHeads, otherHeadOf(start.charCodeAt(0), start.charCodeAt(1), start.charCodeAt(2)));
      return;
    }
    const long = longHeadOf(head, start.charCodeAt(3));
    setBit(this.longHeads, long);
    const fifth = length < 5 ? long : fifthHeadOf(long, start.charCodeAt(4));
    const sixth = length < 6 ? fifth : sixthHeadOf(fifth, start.charCodeAt(5));
    setBit(this.deepHeads, sixth);
    if (length < 6) return;
    const seventh = length < 7 ? sixth : seventhHeadOf(sixth, start.charCodeAt(6));
    setBit(this.lastHeads, length < 8 ? seventh : eighthHeadOf(seventh, start.charCodeAt(7)));
  }

  /** For a head found in `heads`: whether a start with the next units exists. */
  mayStart(head: number, units: Uint16Array, i: number): boolean {
    const { longHeads, deepHeads, lastHeads } = this;
    if (hasBit(longHeads, head) && hasBit(lastHeads, otherHeadOf(units[i]!, units[i + 1]!, units[i + 2]!)))
      if (mayHoldBody(units, i)) return true;
    const long = longHeadOf(head, units[i + 3]!);
    if (!hasBit(longHeads, long)) return false;
    const fifth = fifthHeadOf(long, units[i + 4]!);
    if (hasBit(deepHeads, long) || hasBit(deepHeads, fifth)) return true;
    const sixth = sixthHeadOf(fifth, units[i + 5]!);
    if (!hasBit(deepHeads, sixth)) return false;
    const seventh = seventhHeadOf(sixth, units[i + 6]!);
    return (
      hasBit(lastHeads, sixth) ||
      hasBit(lastHeads, seventh) ||
      hasBit(lastHeads, eighthHeadOf(seventh, units[i + 7]!))
    );
  }

  /** A start, or its first ten units, is at `i`: it has not only the hashes of one. */
  hasStart({ units, text }: Page, i: number): boolean {
    if (armour.some((word) => text.startsWith(word, i))) return true;
    const group = this.groups.get(headOf(units[i]!, units[i + 1]!, units[i + 2]!));
    return group?.some(({ start }) => text.startsWith(start.slice(0, rememberedStart), i)) === true;
  }

  /** The shape that starts at `i`. `wholeWord`: no word unit precedes `i`. */
  match(page: Page, i: number, wholeWord: boolean): ShapeMatch | undefined {
    const { units, text } = page;
    const head = headOf(units[i]!, units[i + 1]!, units[i + 2]!);
    const unit = units[i + 3]!;
    if (!this.mayStart(head, units, i)) return undefined;
    const group = this.groups.get(head);
    if (!group) return undefined;
    for (const { shape, start, fourth, body, standsOut } of group) {
      if (fourth !== 0 && fourth !== unit) continue;
      const isBehindSign = shape.wholeWord === true && !wholeWord;
      if (isBehindSign && !(standsOut && isSign(units[i - 1]))) continue;
      if (!text.startsWith(start, i)) continue;
      const bodyStart = i + start.length;
      body.lastIndex = bodyStart;
      if (!body.test(text)) continue;
      const end = body.lastIndex;
      if (isBehindSign && !isDrawn(text.slice(bodyStart, end))) continue;
      if (!wholeWord && start.length < shortStart && isWithinDrawn(page, i, end)) continue;
      if (start.length < shortStart && !/[-_]/.test(start) && isWithinBase64(page, i)) continue;
      if (isAcceptable(shape, text, bodyStart, end)) return { rule: shape.rule, bodyStart, end };
    }
    return undefined;
  }
}

/**
 * After the third unit: no body of a start this short has a sign so early. The salts of `$1$` do, and those after `AQE` are
 * shorter.
 */
const shortestBody = 8;
const shortestOfA = 5;
/** After a letter and a dot: `s.` */
const dottedBody = 24;

/** `path`, `pattern` and `s.get` are not followed by as many word units as a key is. */
function mayHoldBody(units: Uint16Array, i: number): boolean {
  if (units[i] === 36) return true;
  const { classes } = characterTables();
  const isDotted = units[i + 1] === 46;
  const kinds = isDotted ? alnum : wordUnit;
  const start = isDotted ? i + 2 : i + 3;
  const end = start + (isDotted ? dottedBody : units[i] === 65 ? shortestOfA : shortestBody);
  for (let at = start; at < end; at++) if (!(classes[units[at]!]! & kinds)) return false;
  return true;
}

/** `hf_`, `sk-`: random base64url contains both signs, and such a start by chance once in a few thousand characters. */
const shortStart = 5;
/** No name has this many random characters before a key. */
const drawnReach = 43;

/**
 * The start at `i` is inside a random word: either a long random part precedes it, or the word continues after the key's end.
 * A key after a name, as in `checkout-hf_…`, is not.
 */
function isWithinDrawn({ units, text }: Page, i: number, end: number): boolean {
  const { classes } = characterTables();
  let from = i;
  while (from > 0 && i - from < drawnReach && classes[units[from - 1]!]! & wordUnit) from -= 1;
  if (i - from < 16 || !looksRandom(text.slice(from, i), 16)) return false;
  return i - from >= drawnReach || (classes[units[end]!]! & wordUnit) !== 0;
}

/**
 * A slash or a plus of encoded data is before the start at `i`: no path has as many letters in a row, of which as many are drawn. Such data
 * has no other signs, so that a start with one is none of it.
 */
function isWithinBase64({ units, text }: Page, i: number): boolean {
  if (units[i - 1] !== 47 && units[i - 1] !== 43) return false;
  const { classes } = characterTables();
  let from = i;
  while (from > 0 && i - from < longestPath && isBase64(classes[units[from - 1]!]!)) from -= 1;
  if (i - from < longestPath) return false;
  return text
    .slice(from, i)
    .split(/[+/]/)
    .some((part) => part.length >= leastDrawn && looksRandom(part, leastDrawn));
}
const longestPath = 160;
/** Of 160 characters of base64, nearly always as many in a row have no sign. */
const leastDrawn = 24;
const isBase64 = (kinds: number): boolean => (kinds & base64Unit) !== 0 && (kinds & connector) === 0;

/** `load_LTAI…`, `checkout-dapi…`: names of functions and folders. */
const isSign = (unit: number | undefined): boolean => unit === 95 || unit === 45;

const isDrawn = (body: string): boolean => looksRandom(body, 14) && /\d.*\d/.test(body);

/** A body of one repeated character or of words is a stand-in, a name or a sentence. */
function isAcceptable(shape: Shape, text: string, bodyStart: number, end: number): boolean {
  const body = text.slice(bodyStart, end);
  if (body.length <= 80 && isStandIn(body)) return false;
  if (shape.isPublic?.(body)) return false;
  return !shape.random || looksRandom(body, 6);
}

let table: ShapeTable | undefined;

export function shapeTable(): ShapeTable {
  table ??= new ShapeTable(allShapes());
  return table;
}

/** Names the finding after a known shape, which is more specific than the name, and keeps its public start. */
export function nameByShape(page: Page, span: { start: number; end: number }, rule: string): Finding {
  const match = shapeTable().match(page, span.start, true);
  if (!match || match.end < span.end - 2) return { start: span.start, end: span.end, rule };
  return { start: match.bodyStart, end: Math.max(match.end, span.end), rule: match.rule };
}
