/** The dominator tree from the top down: the nodes that each node immediately dominates. */
import type { GraphKernel } from '../kernel/graph-kernel.ts';
import type { SpareMemory } from './tree-memory.ts';

export class DominatedIndex {
  /** Index of a node's first entry in `nodes`, with one more element at the end. */
  readonly first: Uint32Array;
  readonly nodes: Uint32Array;

  /**
   * @param kernel the kernel of the same snapshot, if it is small.
   * @param spare reusable memory, if any.
   */
  constructor(dominator: Uint32Array, root: number, kernel?: GraphKernel, spare?: SpareMemory) {
    const count = dominator.length;
    if (kernel?.hasDominators) {
      kernel.code.indexDominated(root);
      this.first = kernel.words('first', count + 1);
      this.nodes = kernel.words('dominated', Math.max(0, count - 1));
      return;
    }
    // The counter of each row is in the next element; once filled, it equals the start of the next row.
    const first = spare?.take()?.fill(0, 0, count + 2) ?? new Uint32Array(count + 2);
    for (let node = 0; node < count; node++) if (node !== root) first[dominator[node]! + 2]!++;
    for (let node = 2; node <= count; node++) first[node]! += first[node - 1]!;
    this.nodes = (spare?.work ?? new Uint32Array(count)).subarray(0, Math.max(0, count - 1));
    for (let node = 0; node < count; node++)
      if (node !== root) this.nodes[first[dominator[node]! + 1]!++] = node;
    this.first = first.subarray(0, count + 1);
  }

  /** Ordinals of the nodes whose immediate dominator is `node`. */
  of(node: number): Uint32Array {
    return this.nodes.subarray(this.first[node], this.first[node + 1]);
  }
}
