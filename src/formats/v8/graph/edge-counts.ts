/** The number of edges of each node. Most nodes have few, so one byte is enough for them. */

const tooMany = 0xff;

export class EdgeCounts {
  readonly #counts: Uint8Array;
  readonly #large = new Map<number, number>();
  total = 0;

  constructor(nodes: number) {
    this.#counts = new Uint8Array(nodes);
  }

  /** Must be called once for each node. */
  set(node: number, count: number): void {
    this.total += count;
    this.#counts[node] = Math.min(count, tooMany);
    if (count >= tooMany) this.#large.set(node, count);
  }

  of(node: number): number {
    const count = this.#counts[node]!;
    return count === tooMany ? this.#large.get(node)! : count;
  }
}
