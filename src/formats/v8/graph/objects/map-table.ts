/** Numbers the maps of a heap, and knows the instance type of their objects: a hash table with open addressing. */
import { hash } from '../../heap/map-hash.ts';

const firstRoom = 1 << 12;
const rowWords = 3;

export class MapTable {
  /** By number. */
  types = new Uint16Array(firstRoom);
  count = 0;
  /** Rows of three: the two halves of a map's pointer, and its number; zero: empty. */
  #rows = new Int32Array(firstRoom * 2 * rowWords);
  #lastLow = 0;
  #lastHigh = 0;
  #last = -1;
  readonly #findType: (map: number) => number;

  /** `findType` returns the instance type of a map that is met for the first time. */
  constructor(findType: (map: number) => number) {
    this.#findType = findType;
  }

  /** The number of a map, whose pointer is given as two halves. */
  of(low: number, high: number): number {
    if (low === this.#lastLow && high === this.#lastHigh) return this.#last;
    const rows = this.#rows;
    const mask = rows.length / rowWords - 1;
    let at = (hash(low, high) & mask) * rowWords;
    while (rows[at] !== low || rows[at + 1] !== high) {
      if (rows[at] === 0) return this.#add(low, high);
      at = at + rowWords === rows.length ? 0 : at + rowWords;
    }
    this.#lastLow = low;
    this.#lastHigh = high;
    this.#last = rows[at + 2]!;
    return this.#last;
  }

  #add(low: number, high: number): number {
    if (this.count === this.types.length) this.#grow();
    const number = this.count++;
    this.types[number] = this.#findType(high * 2 ** 32 + (low >>> 0));
    this.#put(low, high, number);
    return number;
  }

  #put(low: number, high: number, number: number): void {
    const rows = this.#rows;
    let at = (hash(low, high) & (rows.length / rowWords - 1)) * rowWords;
    while (rows[at] !== 0) at = at + rowWords === rows.length ? 0 : at + rowWords;
    rows[at] = low;
    rows[at + 1] = high;
    rows[at + 2] = number;
  }

  #grow(): void {
    const types = new Uint16Array(this.types.length * 2);
    types.set(this.types);
    this.types = types;
    const old = this.#rows;
    this.#rows = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at += rowWords)
      if (old[at] !== 0) this.#put(old[at]!, old[at + 1]!, old[at + 2]!);
  }
}
