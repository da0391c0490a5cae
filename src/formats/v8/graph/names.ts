/** Texts of a graph. Each is stored once and identified by a number. */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findString, isStringType } from '../strings.ts';

/** V8 truncates names to this length too. */
export const maxLength = 1024;
const symbolFlags = 12;
/** Before V8 14: a flag for all private symbols, and one for those that are names in a class. */
const [privateFlag, privateName] = [1, 1 << 4];
/** Since then: a number, 1 for V8's own private symbols, 2 for private names, 3 for brands. */
const [symbolKind, privateNameKind] = [3, 2];
const linesOfSymbolKinds = 1400;

const firstRoom = 1 << 12;
const mostInMap = 1 << 23;
const ofWithheld = -1;
/** Bits of an index that select from a page. */
const indexBits = 12;
/** Indexes count down from here. */
const ofFirstIndex = -2;

export class Names {
  readonly #texts: string[] = [];
  /** Several, because a Map has room for 2^24 entries. */
  readonly #numbers = [new Map<string, number>()];
  /** Pages of text numbers plus one, by index; 0 for none. An index can be as large as the largest array. */
  readonly #ofIndex: (Int32Array | undefined)[] = [];
  readonly #withheld: string | undefined;
  readonly #values = new HashedTexts();
  /** By text number: where the text is in `#texts`, or that it is withheld, or an index that needs no string. */
  #sources = new Int32Array(firstRoom);
  #count = 0;

  readonly #addWithheld = () => this.#add(ofWithheld);

  /** `withheld`: replaces the text of all strings that are only values. */
  constructor(withheld?: string) {
    this.#withheld = withheld;
  }

  of(text: string): number {
    let last = this.#numbers[0]!;
    for (last of this.#numbers) {
      const known = last.get(text);
      if (known !== undefined) return known;
    }
    if (last.size >= mostInMap) {
      last = new Map();
      this.#numbers.push(last);
    }
    const number = this.#add(this.#texts.push(text) - 1);
    last.set(text, number);
    return number;
  }

  ofIndex(index: number): number {
    this.#ofIndex[index >>> indexBits] ??= new Int32Array(1 << indexBits);
    const page = this.#ofIndex[index >>> indexBits]!;
    const at = index & ((1 << indexBits) - 1);
    page[at] ||= this.#add(ofFirstIndex - index) + 1;
    return page[at]! - 1;
  }

  text(number: number): string {
    const source = this.#sources[number]!;
    if (source >= 0) return this.#texts[source]!;
    return source === ofWithheld ? this.#withheld! : String(ofFirstIndex - source);
  }

  /** All texts, by number. */
  *all(): Generator<string> {
    for (let number = 0; number < this.#count; number++) yield this.text(number);
  }

  #add(source: number): number {
    if (this.#count === this.#sources.length) {
      const larger = new Int32Array(Math.ceil(this.#count * 1.5));
      larger.set(this.#sources);
      this.#sources = larger;
    }
    this.#sources[this.#count] = source;
    return this.#count++;
  }

  /** Text number of a string. Parts of the string that are absent are left out. */
  ofString(heap: V8Heap, value: Tagged): number {
    return this.of(findName(heap, value) ?? '');
  }

  /** Whether strings that don't name anything have a text of their own. */
  get hasValues(): boolean {
    return this.#withheld === undefined;
  }

  /** Text number of a withheld string, by its characters: so many bytes from a word on. */
  ofWithheld(words: Int32Array, from: number, bytes: number): number {
    return this.#values.numberOf(words, from, bytes, this.#addWithheld);
  }

  /** A number for one more withheld text. */
  addWithheld(): number {
    return this.#addWithheld();
  }

  /** Text number of a withheld string whose characters are in other objects, or outside of the heap: one of its own. */
  ofWithheldPart(): number {
    return this.#addWithheld();
  }

  /** The name that V8's profiler gives a property with this key, a string or a symbol. Undefined if it is not a key. */
  ofKey(heap: V8Heap, key: Tagged): number | undefined {
    const type = heap.findType(key);
    if (isStringType(type)) return this.ofString(heap, key);
    if (type !== heap.layout.types.symbol) return undefined;
    const name = findName(heap, heap.field(key, heap.layout.symbolName));
    if (name === undefined) return this.of('<symbol>');
    return this.of(isPrivateName(heap, key) ? name : `<symbol ${name}>`);
  }
}

/** V8's profiler replaces the zeros in a text. */
function findName(heap: V8Heap, value: Tagged): string | undefined {
  return whereMapped(() => findString(heap, value, maxLength))?.replaceAll('\0', ' ');
}

/** Whether it is the name of a private field or method, or the brand of a class that has private methods. */
function isPrivateName(heap: V8Heap, key: Tagged): boolean {
  const flags = whereMapped(() => heap.memory.readUint32(key - 1 + symbolFlags)) ?? 0;
  return (flags & (heap.layout.line < linesOfSymbolKinds ? privateName : privateNameKind)) !== 0;
}

/** Whether a program can't get hold of a symbol with these flags, which follow its hash: V8's own, and private names. */
export const isPrivateSymbol = (heap: V8Heap, flags: number): boolean =>
  (flags & (heap.layout.line < linesOfSymbolKinds ? privateFlag : symbolKind)) !== 0;

/**
 * Numbers of texts that are not stored. Texts are identified by a 64-bit hash, for which no collision is expected within one
 * heap.
 */
class HashedTexts {
  #slots = 1 << 12;
  #count = 0;
  /** Rows of three: the two halves of the hash, and the number plus one; zero for an empty row. */
  #table = new Int32Array(this.#slots * 3);

  numberOf(words: Int32Array, from: number, bytes: number, add: () => number): number {
    let [high, low] = [bytes, ~bytes];
    const end = from + Math.ceil(bytes / 4);
    for (let i = from; i < end; i++) {
      // What follows the characters in the last word is not a part of them.
      const word = i === end - 1 && bytes % 4 > 0 ? words[i]! & ((1 << (8 * (bytes % 4))) - 1) : words[i]!;
      high = Math.imul(high ^ word ^ (high >>> 15), 0x01000193);
      low = Math.imul((low << 5) ^ (low >>> 3) ^ word, 0x5bd1e995);
    }
    high ^= high >>> 16;
    const at = this.#find(this.#table, high, low);
    if (this.#table[at + 2] !== 0) return this.#table[at + 2]! - 1;
    const number = add();
    this.#table.set([high, low, number + 1], at);
    if (++this.#count * 4 > this.#slots * 3) this.#grow();
    return number;
  }

  #find(table: Int32Array, high: number, low: number): number {
    const mask = table.length / 3 - 1;
    let slot = (high ^ (low >>> 7)) & mask;
    while (table[slot * 3 + 2] !== 0 && (table[slot * 3] !== high || table[slot * 3 + 1] !== low))
      slot = (slot + 1) & mask;
    return slot * 3;
  }

  #grow(): void {
    const old = this.#table;
    this.#slots *= 2;
    const larger = new Int32Array(this.#slots * 3);
    for (let at = 0; at < old.length; at += 3)
      if (old[at + 2] !== 0) larger.set(old.subarray(at, at + 3), this.#find(larger, old[at]!, old[at + 1]!));
    this.#table = larger;
  }
}
