/**
 * V8's pages in rows of equal size, so that one table lookup maps a pointer to a number. The `slot` of a word is its row
 * times the number of words per row, plus its index in the row. A bit per word marks the starts of objects.
 */
import type { MemoryReader } from '../../../../bytes/memory.ts';
import { HeapKernel } from '../kernel/heap-kernel.ts';
import { SlotSet, wordsFor } from './slot-set.ts';

const chunkBits = 18;
const chunkBytes = 1 << chunkBits;
const systemPage = 4096;
/** 256 MB. */
const mostCopiedRows = 1024;
const rowBits = chunkBits - 3;
const rowMask = (1 << rowBits) - 1;
/** Of the addresses of programs: 2^47. */
const mostChunks = 2 ** (47 - chunkBits);
/** Chunks per 2^32 bytes of address space. */
const chunksPerHigh = 2 ** (32 - chunkBits);

export interface WordRange {
  start: number;
  /** Exclusive. */
  end: number;
}

export class HeapWords {
  /** The words of each row, low half first. */
  readonly rows: Int32Array[] = [];
  /** Has the words in its memory; undefined if there is none, or it was let go. */
  kernel: HeapKernel | undefined;
  readonly #rowAddress: number[] = [];
  /** Slots in which an object starts; a live one, once `keepOnly` was called. */
  starts: SlotSet;
  /** Hash table with open addressing: chunk numbers, and their rows. */
  readonly #keys: Int32Array;
  readonly #values: Int32Array;
  #lastChunk = -1;
  #lastRow = -1;

  /** `pages`: in the order in which their objects are to be numbered. */
  constructor(memory: MemoryReader, pages: readonly WordRange[]) {
    const parts: WordRange[] = [];
    for (const { start, end } of pages)
      for (let at = Math.floor(start / chunkBytes) * chunkBytes; at < end; at += chunkBytes) {
        parts.push({ start: Math.max(at, start), end: Math.min(at + chunkBytes, end) });
        this.#rowAddress.push(at);
      }
    const [first = -1] = this.#rowAddress;
    const canMove = memory.canMove?.(first) === true;
    // A large heap that is in our memory already, and must stay there, is read in place.
    const isHeld =
      !canMove && parts.length > mostCopiedRows && memory.view?.(first, chunkBytes) !== undefined;
    const kernel = isHeld ? undefined : HeapKernel.create(parts.length);
    const roomOf = (row: number) => kernel?.bytes('rows', chunkBytes, row * chunkBytes);
    const moved = kernel && canMove ? this.#move(memory, roomOf) : new Set<number>();
    for (const [row, { start, end }] of parts.entries()) {
      const address = this.#rowAddress[row]!;
      const room = roomOf(row);
      this.rows.push(moved.has(row) ? inRow(room!) : readRow(memory, address, start, end, room));
    }
    this.kernel = kernel;
    let size = 64;
    while (size < this.rows.length * 4) size *= 2;
    this.#keys = new Int32Array(size).fill(-1);
    this.#values = new Int32Array(size);
    for (const [row, address] of this.#rowAddress.entries()) this.#put(address / chunkBytes, row);
    this.starts = this.makeSet('starts');
  }

  /** Moves the rows into the kernel. A chunk that has several is moved into the first of them. */
  #move(memory: MemoryReader, roomOf: (row: number) => Uint8Array | undefined): Set<number> {
    const rowOf = new Map<number, number>();
    for (const [row, address] of this.#rowAddress.entries()) if (!rowOf.has(address)) rowOf.set(address, row);
    memory.move?.(Array.from(rowOf, ([address, row]) => ({ address, into: roomOf(row)! })));
    return new Set(rowOf.values());
  }

  get slotCount(): number {
    return this.#rowAddress.length << rowBits;
  }

  /** An empty set of slots. */
  makeSet(which: 'starts' | 'ends' | 'live'): SlotSet {
    const room = wordsFor(this.slotCount);
    return new SlotSet(
      this.slotCount,
      this.kernel?.numbers(which, room),
      which === 'live' ? this.kernel?.numbers('before', room) : undefined,
    );
  }

  /** From now on other objects are none, and pointers to them are not pointers to objects. */
  keepOnly(live: SlotSet): void {
    this.starts = live;
    this.kernel?.code.keepOnlyLive();
  }

  /** Drops the words; the slots and the starts of objects stay known. */
  release(): void {
    this.rows.length = 0;
    if (this.kernel) this.starts.detach();
    this.kernel = undefined;
  }

  #put(chunk: number, row: number): void {
    let at = hash(chunk) & (this.#keys.length - 1);
    while (this.#keys[at]! >= 0) at = (at + 1) & (this.#keys.length - 1);
    this.#keys[at] = chunk;
    this.#values[at] = row;
    if (chunk < mostChunks) this.kernel?.code.putChunk(chunk, row);
  }

  #rowOf(chunk: number): number {
    if (chunk === this.#lastChunk) return this.#lastRow;
    const mask = this.#keys.length - 1;
    let at = hash(chunk) & mask;
    while (this.#keys[at] !== chunk) {
      if (this.#keys[at]! < 0) return -1;
      at = (at + 1) & mask;
    }
    this.#lastChunk = chunk;
    this.#lastRow = this.#values[at]!;
    return this.#lastRow;
  }

  /** The slot of an address on one of the pages; -1 for other addresses. */
  slotOf(address: number): number {
    const chunk = Math.floor(address / chunkBytes);
    const row = chunk < 2 ** 31 ? this.#rowOf(chunk) : -1;
    return row < 0 ? -1 : (row << rowBits) | ((address - chunk * chunkBytes) >>> 3);
  }

  /** The words of the row of a slot. */
  rowOfSlot(slot: number): Int32Array {
    return this.rows[slot >>> rowBits]!;
  }

  /** The first slot of the row of a slot. */
  firstOfRow(slot: number): number {
    return slot & ~rowMask;
  }

  addressOf(slot: number): number {
    return this.#rowAddress[slot >>> rowBits]! + (slot & rowMask) * 8;
  }

  low(slot: number): number {
    return this.rows[slot >>> rowBits]![(slot & rowMask) * 2]!;
  }

  high(slot: number): number {
    return this.rows[slot >>> rowBits]![(slot & rowMask) * 2 + 1]!;
  }

  /** A word as a number: a pointer with its tag, or a small integer times 2^32. */
  word(slot: number): number {
    return this.high(slot) * 2 ** 32 + (this.low(slot) >>> 0);
  }

  /** The slot of the object that a pointer, given as two halves, refers to, with any tag; -1 for none. */
  objectAt(low: number, high: number): number {
    if ((low & 5) !== 1 || high < 0 || high > 0x7fff) return -1;
    const row = this.#rowOf(high * chunksPerHigh + (low >>> chunkBits));
    if (row < 0) return -1;
    const slot = (row << rowBits) | ((low & (chunkBytes - 1)) >>> 3);
    return this.starts.has(slot) ? slot : -1;
  }

  /** The slot of the object that a tagged pointer refers to; -1 for none. */
  objectFor(pointer: number): number {
    return this.objectAt((pointer % 2 ** 32) | 0, Math.floor(pointer / 2 ** 32));
  }
}

/**
 * `into`: where its words are to be, zeroed. Otherwise a view of the memory if the whole chunk is available in one piece, including what precedes and follows the page. Otherwise
 * a copy, in which memory that is not in the core is zero, which is not a pointer.
 */
function readRow(memory: MemoryReader, at: number, from: number, to: number, into?: Uint8Array): Int32Array {
  const held = into ? undefined : memory.view?.(at, chunkBytes);
  if (held && held.byteOffset % 4 === 0) return new Int32Array(held.buffer, held.byteOffset, chunkBytes / 4);
  const whole = memory.peek(at, chunkBytes, into);
  const bytes = whole ?? into ?? new Uint8Array(chunkBytes);
  for (let part = from; !whole && part < to; ) {
    const next = Math.min(to, (Math.floor(part / systemPage) + 1) * systemPage);
    const piece = memory.peek(part, next - part);
    if (piece) bytes.set(piece, part - at);
    part = next;
  }
  return inRow(bytes);
}

const inRow = ({ buffer, byteOffset }: Uint8Array): Int32Array =>
  new Int32Array(buffer, byteOffset, chunkBytes / 4);

const hash = (chunk: number) => Math.imul(chunk, 0x9e3779b1) >>> 7;
