/** The dominator tree downwards: whom each node dominates directly. */
export class DominatedIndex {
  /** Row of a node's first entry in `nodes`; one more at the end. */
  readonly first: Uint32Array;
  readonly nodes: Uint32Array;

  constructor(dominator: Uint32Array, root: number) {
    const count = dominator.length;
    const next = new Uint32Array(count + 1);
    for (let node = 0; node < count; node++) if (node !== root) next[dominator[node]! + 1]!++;
    for (let node = 0; node < count; node++) next[node + 1]! += next[node]!;
    this.first = next.slice();
    this.nodes = new Uint32Array(Math.max(0, count - 1));
    for (let node = 0; node < count; node++) if (node !== root) this.nodes[next[dominator[node]!]!++] = node;
  }

  /** Ordinals of the nodes whose immediate dominator is this one. */
  of(node: number): Uint32Array {
    return this.nodes.subarray(this.first[node], this.first[node + 1]);
  }
}
