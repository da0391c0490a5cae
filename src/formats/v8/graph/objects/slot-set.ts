/** A set of slots, with a bit for each. Once it is numbered, it knows how many members precede a slot. */

export class SlotSet {
  #bits: Int32Array;
  #before: Int32Array = new Int32Array(0);
  #room: Int32Array | undefined;

  /** For the slots below `slots`; with its bits, which are 0, and its counts in memory of the caller's. */
  constructor(slots: number, bits?: Int32Array, room?: Int32Array) {
    this.#bits = bits ?? new Int32Array(wordsFor(slots));
    this.#room = room;
  }

  /** Lets go of the caller's memory. */
  detach(): void {
    this.#bits = this.#bits.slice();
    this.#before = this.#before.slice();
    this.#room = undefined;
  }

  add(slot: number): void {
    this.#bits[slot >>> 5]! |= 1 << (slot & 31);
  }

  has(slot: number): boolean {
    return ((this.#bits[slot >>> 5]! >>> (slot & 31)) & 1) === 1;
  }

  /** The first member that is not below `from`; -1 if there is none. */
  next(from: number): number {
    const bits = this.#bits;
    let word = from >>> 5;
    if (word >= bits.length) return -1;
    let rest = bits[word]! & (-1 << (from & 31));
    while (rest === 0) {
      if (++word >= bits.length) return -1;
      rest = bits[word]!;
    }
    return (word << 5) + 31 - Math.clz32(rest & -rest);
  }

  /** The last member that is not above `from`; -1 if there is none. */
  previous(from: number): number {
    const bits = this.#bits;
    let word = from >>> 5;
    let rest = bits[word]! & (-1 >>> (31 - (from & 31)));
    while (rest === 0) {
      if (--word < 0) return -1;
      rest = bits[word]!;
    }
    return (word << 5) + 31 - Math.clz32(rest);
  }

  /** Must follow the last `add`, and precede `numberOf`. Returns the number of members. */
  number(): number {
    this.#before = this.#room ?? new Int32Array(this.#bits.length);
    let count = 0;
    for (let word = 0; word < this.#bits.length; word++) {
      this.#before[word] = count;
      count += bitsIn(this.#bits[word]!);
    }
    return count;
  }

  /** How many members are below `slot`. */
  numberOf(slot: number): number {
    const below = (1 << (slot & 31)) - 1;
    return this.#before[slot >>> 5]! + bitsIn(this.#bits[slot >>> 5]! & below);
  }
}

/** One word more, so that the end of the last object has a bit. */
export const wordsFor = (slots: number): number => (slots >>> 5) + 1;

function bitsIn(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
