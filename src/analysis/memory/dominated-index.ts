/** The dominator tree downwards: whom each node dominates directly. */
import type { GraphKernel } from './graph-kernel.ts';

export class DominatedIndex {
  /** Row of a node's first entry in `nodes`; one more at the end. */
  readonly first: Uint32Array;
  readonly nodes: Uint32Array;

  /** @param kernel of the same snapshot, if it is small. */
  constructor(dominator: Uint32Array, root: number, kernel?: GraphKernel) {
    const count = dominator.length;
    if (kernel?.hasDominators) {
      kernel.code.indexDominated(root);
      this.first = kernel.words('first', count + 1);
      this.nodes = kernel.words('dominated', Math.max(0, count - 1));
      return;
    }
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
