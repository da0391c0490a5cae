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
  readonly #sums: ArrayBuffer;
  readonly #forest: ArrayBuffer;
  readonly #nodes: number;

  constructor(nodes: number) {
    const words = nodes + 2;
    this.#nodes = nodes;
    this.#sums = new ArrayBuffer(8 * words);
    this.#forest = new ArrayBuffer(16 * words);
    this.number = new Int32Array(nodes);
    this.parent = new Int32Array(this.#sums, 0, words);
    this.semi = new Int32Array(this.#sums, 4 * words, words);
    this.ordinal = new Uint32Array(words);
    this.stack = new Int32Array(this.#forest);
    this.links = new Int32Array(this.#forest, 0, 2 * words);
  }

  /** Once the dominators are found. @param crossing two words a node, of the crossing edges. */
  release(crossing: readonly [Uint32Array, Uint32Array]): SpareMemory {
    const nodes = this.#nodes;
    return {
      sums: this.#sums,
      work: crossing[0],
      sizes: crossing[1],
      distances: new Int32Array(this.#forest, 0, nodes),
      first: new Uint32Array(this.#forest, 4 * nodes, nodes + 2),
      classes: this.ordinal.buffer as ArrayBuffer,
    };
  }
}

/** Of 10 M nodes each word a node is 4 % of the peak. Not zeroed; to be used once, but for `work`. */
export interface SpareMemory {
  /** Eight bytes a node, for the retained sizes. */
  sums: ArrayBuffer;
  /** A word a node, to work in. */
  work: Uint32Array;
  /** A word a node each, for self sizes, distances and the rows of the dominated. */
  sizes: Uint32Array;
  distances: Int32Array;
  first: Uint32Array;
  /** Four bytes a node, for their classes. */
  classes: ArrayBuffer;
}
