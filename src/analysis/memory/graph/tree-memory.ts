/**
 * The memory in which the dominators of a large snapshot are found, laid out so that what one step is done with serves
 * the next, and all of it the columns that come after: left to the garbage collector, it stays until long after the peak.
 * Pages that nothing was written to cost nothing, so each column has room for the worst case.
 */
export class TreeMemory {
  /** By ordinal. The dominators go into it. */
  readonly number: Int32Array;
  /** By number, all three. */
  readonly parent: Int32Array;
  readonly semi: Int32Array;
  readonly ordinal: Uint32Array;
  /** Four words an entry. The search is over when `links` is written to. */
  readonly stack: Int32Array;
  /** Two words a number. */
  readonly links: Int32Array;
  /** A word for each vertex of a way up; apart from the links. */
  readonly path: Int32Array;
  readonly #sums: ArrayBuffer;
  readonly #forest: ArrayBuffer;
  readonly #words: number;

  constructor(nodes: number) {
    const words = nodes + 2;
    this.#words = words;
    this.#sums = new ArrayBuffer(8 * words);
    this.#forest = new ArrayBuffer(16 * words);
    this.number = new Int32Array(nodes);
    this.parent = new Int32Array(this.#sums, 0, words);
    this.semi = new Int32Array(this.#sums, 4 * words, words);
    this.ordinal = new Uint32Array(words);
    this.stack = new Int32Array(this.#forest);
    this.links = new Int32Array(this.#forest, 0, 2 * words);
    this.path = new Int32Array(this.#forest, 8 * words, words);
  }

  /** Once the dominators are found. @param crossing a word a node each, of the crossing edges. */
  release([work, column]: readonly [Uint32Array, Uint32Array]): SpareMemory {
    const sums = this.#sums;
    const [links, path] = this.#columnsOf(this.#forest);
    const columns = [links, ...this.#columnsOf(sums), column, path];
    return {
      work,
      classes: this.ordinal.buffer as ArrayBuffer,
      take: () => columns.shift(),
      takeWide() {
        if (columns[1]?.buffer !== sums) return undefined;
        columns.splice(columns[0]?.buffer === sums ? 0 : 1, 2);
        return sums;
      },
    };
  }

  #columnsOf(buffer: ArrayBuffer): [Uint32Array, Uint32Array] {
    const words = this.#words;
    return [new Uint32Array(buffer, 0, words), new Uint32Array(buffer, 4 * words, words)];
  }
}

/** Of 10 M nodes each word a node is 4 % of the peak. Not zeroed. */
export interface SpareMemory {
  /** A word a node and two more, to work in. */
  work: Uint32Array;
  /** Four bytes a node, for their classes. */
  classes: ArrayBuffer;
  /**
   * A word a node and two more, for a column that stays; undefined when there is no more. What was in use most comes first: each
   * page that was not is one more.
   */
  take(): Uint32Array | undefined;
  /** Eight bytes a node, while there are such. */
  takeWide(): ArrayBuffer | undefined;
}
