/**
 * The memory for the dominators of a large snapshot. What one step no longer needs is reused by the next steps, and in the
 * end by the columns computed later: the garbage collector would only free it long after the peak. Pages that are never
 * written cost nothing, so each column is allocated for the worst case.
 */
export class TreeMemory {
  /** By ordinal. Overwritten by the dominators. */
  readonly number: Int32Array;
  /** These three are by number. */
  readonly parent: Int32Array;
  readonly semi: Int32Array;
  readonly ordinal: Uint32Array;
  /** Four words per entry. Shares memory with `links`, which are only written after the search. */
  readonly stack: Int32Array;
  /** Two words per number. */
  readonly links: Int32Array;
  /** One word per vertex of an upward path; doesn't overlap the links. */
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

  /**
   * Called once the dominators are found. @param crossing the memory of the crossing edges, two arrays of one word per node.
   */
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

/** Memory that can be reused. For 10 million nodes, one word per node is 4 % of the peak. Not zeroed. */
export interface SpareMemory {
  /** Working memory: one word per node and two more. */
  work: Uint32Array;
  /** For the classes: four bytes per node. */
  classes: ArrayBuffer;
  /**
   * One word per node and two more, for a column that is kept; undefined if there is none left. Starts with the memory that
   * was used most, since each unused page adds to the peak.
   */
  take(): Uint32Array | undefined;
  /** Eight bytes per node; undefined if there is no such memory left. */
  takeWide(): ArrayBuffer | undefined;
}
