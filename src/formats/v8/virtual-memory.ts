/**
 * The memory of a dead process, extended by space for objects whose allocation optimised code eliminated. Readers create them
 * there as V8 would on deoptimisation, and read them like any other object. A value without an object (a number in a stack
 * slot) becomes a note: an address that only has a text.
 */
import { AbsentMemory, type MemoryReader } from '../../bytes/memory.ts';

/** Above user-space addresses, and small enough for a tagged pointer. */
const base = 2 ** 47;
const roomBytes = 256 << 10;

export class VirtualMemory implements MemoryReader {
  readonly #real: MemoryReader;
  readonly #notes = new Map<number, string>();
  #view: DataView | undefined;
  #used = 0;

  constructor(real: MemoryReader) {
    this.#real = real;
  }

  /** Address of `words` zeroed words; undefined if the space is full. */
  allocate(words: number): number | undefined {
    if (!(words > 0 && this.#used + words * 8 <= roomBytes)) return undefined;
    this.#view ??= new DataView(new ArrayBuffer(roomBytes));
    const address = base + this.#used;
    this.#used += words * 8;
    return address;
  }

  /** `address`: of an allocated word. */
  writeWord(address: number, word: bigint): void {
    this.#own(address, 8).setBigInt64(address - base, word, true);
  }

  /** A tagged pointer that is rendered as `text`. */
  note(text: string): number | undefined {
    const address = this.allocate(1);
    if (address !== undefined) this.#notes.set(address + 1, text);
    return address === undefined ? undefined : address + 1;
  }

  findNote(value: number): string | undefined {
    return this.#notes.get(value);
  }

  readWord(address: number): number {
    if (address < base) return this.#real.readWord(address);
    const view = this.#own(address, 8);
    return view.getInt32(address - base + 4, true) * 2 ** 32 + view.getUint32(address - base, true);
  }

  readBigWord(address: number): bigint {
    return address < base
      ? this.#real.readBigWord(address)
      : this.#own(address, 8).getBigUint64(address - base, true);
  }

  readInt32(address: number): number {
    return address < base
      ? this.#real.readInt32(address)
      : this.#own(address, 4).getInt32(address - base, true);
  }

  readUint32(address: number): number {
    return address < base
      ? this.#real.readUint32(address)
      : this.#own(address, 4).getUint32(address - base, true);
  }

  readUint16(address: number): number {
    return address < base
      ? this.#real.readUint16(address)
      : this.#own(address, 2).getUint16(address - base, true);
  }

  readUint8(address: number): number {
    return address < base ? this.#real.readUint8(address) : this.#own(address, 1).getUint8(address - base);
  }

  readDouble(address: number): number {
    return address < base
      ? this.#real.readDouble(address)
      : this.#own(address, 8).getFloat64(address - base, true);
  }

  readBytes(address: number, length: number): Uint8Array {
    if (address < base) return this.#real.readBytes(address, length);
    return new Uint8Array(this.#own(address, length).buffer.slice(address - base, address - base + length));
  }

  findWord(address: number): number | undefined {
    if (address < base) return this.#real.findWord(address);
    return this.has(address, 8) ? this.readWord(address) : undefined;
  }

  has(address: number, length: number): boolean {
    if (address < base) return this.#real.has(address, length);
    return length >= 0 && address + length <= base + this.#used;
  }

  peek(address: number, length: number): Uint8Array | undefined {
    if (address < base) return this.#real.peek(address, length);
    return this.has(address, length) ? this.readBytes(address, length) : undefined;
  }

  #own(address: number, length: number): DataView {
    if (!this.#view || !this.has(address, length)) throw new AbsentMemory(address);
    return this.#view;
  }
}
