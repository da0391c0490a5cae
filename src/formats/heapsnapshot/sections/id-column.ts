/**
 * The ids of nodes. V8 assigns ids in steps of two: in the first snapshot of a process each node's id is two more than the
 * previous node's. A block of nodes with such ids is stored as its first id, and its page of the column is never written to,
 * so it takes no memory.
 */
const blockBits = 10;
const blockSize = 1 << blockBits;
const blockMask = blockSize - 1;
const step = 2;

/** The data that a second thread needs of a column. */
export interface IdColumnParts {
  words: Uint32Array;
  firsts: Uint32Array;
}

export class IdColumn {
  readonly #words: Uint32Array;
  /** By block: the id of its first node if the ids rise by two, otherwise 0. */
  readonly #firsts: Uint32Array;
  /** The block that is being filled: its number and its ids. */
  #open = -1;
  readonly #ids = new Uint32Array(blockSize);

  /** @param words zeros, one per node. */
  constructor(words: Uint32Array, firsts: Uint32Array = new Uint32Array((words.length >>> blockBits) + 1)) {
    this.#words = words;
    this.#firsts = firsts;
  }

  get(row: number): number {
    const block = row >>> blockBits;
    const first = this.#firsts[block]!;
    if (first > 0) return first + step * (row & blockMask);
    return block === this.#open ? this.#ids[row & blockMask]! : this.#words[row]!;
  }

  /** Must be called for consecutive rows, each once. */
  fill(row: number, ids: Uint32Array): void {
    for (let done = 0; done < ids.length; ) {
      const place = (row + done) & blockMask;
      const part = ids.subarray(done, done + blockSize - place);
      this.#open = (row + done) >>> blockBits;
      this.#ids.set(part, place);
      done += part.length;
      if (place + part.length === blockSize) this.#close();
    }
  }

  #close(): void {
    const ids = this.#ids;
    const first = ids[0]!;
    let rising = 1;
    while (rising < blockSize && ids[rising] === first + step * rising) rising++;
    if (first > 0 && rising === blockSize) this.#firsts[this.#open] = first;
    else this.#words.set(ids, this.#open << blockBits);
    this.#open = -1;
  }

  /** The first of `count` rows with this id, or -1. */
  find(id: number, count: number): number {
    return this.rowsOf(new Set([id]), count)[0] ?? -1;
  }

  /** Those of the first `count` rows with one of the ids, ascending. Blocks whose ids rise by two are checked as a whole. */
  rowsOf(ids: ReadonlySet<number>, count: number): number[] {
    const sorted = Uint32Array.from(ids).sort();
    const mayBe = new Uint8Array(1 << 16);
    for (const id of ids) mayBe[id & 0xffff] = 1;
    const { words, firsts } = this.parts();
    const rows: number[] = [];
    for (let row = 0; row < count; row += blockSize) {
      const first = firsts[row >>> blockBits]!;
      const end = Math.min(row + blockSize, count);
      if (first > 0) addRising(rows, row, end, first, sorted);
      else
        for (let at = row; at < end; at++)
          if (mayBe[words[at]! & 0xffff] === 1 && ids.has(words[at]!)) rows.push(at);
    }
    return rows;
  }

  /** Afterwards the rows read so far are complete in `words` and `firsts`. */
  parts(): IdColumnParts {
    if (this.#open >= 0) {
      const from = this.#open << blockBits;
      this.#words.set(this.#ids.subarray(0, this.#words.length - from), from);
      this.#open = -1;
    }
    return { words: this.#words, firsts: this.#firsts };
  }
}

/** Adds the rows of a block [row, end) whose ids rise by two. */
function addRising(rows: number[], row: number, end: number, first: number, sorted: Uint32Array): void {
  for (let at = lowerBound(sorted, first); sorted[at]! < first + step * (end - row); at++)
    if ((sorted[at]! - first) % step === 0) rows.push(row + (sorted[at]! - first) / step);
}

function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
