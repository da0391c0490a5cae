/** The number of edges of each node. Most nodes have few, so one byte is enough for them. */

const tooMany = 0xff;

export class EdgeCounts {
  readonly #counts: Uint8Array;
  readonly #large = new Map<number, number>();
  total = 0;

  /** `counts`: a byte for each node, of the caller's. */
  constructor(nodes: number, counts?: Uint8Array) {
    this.#counts = counts ?? new Uint8Array(nodes);
  }

  /** Must be called once for each node. */
  set(node: number, count: number): void {
    this.#counts[node] = Math.min(count, tooMany);
    if (count >= tooMany) this.setLarge(node, count);
  }

  /** For a node whose byte says that its count is here. */
  setLarge(node: number, count: number): void {
    this.#large.set(node, count);
  }

  of(node: number): number {
    const count = this.#counts[node]!;
    return count === tooMany ? this.#large.get(node)! : count;
  }

  /** Of the nodes from `from` to `to`, exclusive. */
  sum(from: number, to: number): number {
    let sum = 0;
    for (let node = from; node < to; node++) sum += this.of(node);
    return sum;
  }
}
