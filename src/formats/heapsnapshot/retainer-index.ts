/**
 * Edges by target: the references to a node. Created on demand (4 bytes per edge), because most queries follow edges
 * forwards.
 */
import type { EdgeColumns, NodeColumns } from './columns.ts';
import { edgeTargetMask } from './layout.ts';

export class RetainerIndex {
  /** Row of a node's first entry in `edges`; one more at the end. */
  readonly first: Uint32Array;
  /** Edge rows, grouped by target, ascending in each group. */
  readonly edges: Uint32Array;
  readonly #firstEdge: Uint32Array;

  /** @param sorted both columns, if they were computed elsewhere. */
  constructor(nodes: NodeColumns, edges: EdgeColumns, sorted?: { first: Uint32Array; edges: Uint32Array }) {
    this.#firstEdge = nodes.firstEdge;
    if (sorted) {
      this.first = sorted.first;
      this.edges = sorted.edges;
      return;
    }
    const { packed, count } = edges;
    const next = new Uint32Array(nodes.count + 1);
    for (let edge = 0; edge < count; edge++) next[(packed[edge]! & edgeTargetMask) + 1]!++;
    for (let node = 0; node < nodes.count; node++) next[node + 1]! += next[node]!;
    this.first = next.slice();
    this.edges = new Uint32Array(count);
    for (let edge = 0; edge < count; edge++) this.edges[next[packed[edge]! & edgeTargetMask]!++] = edge;
  }

  /** Rows of the edges to a node. */
  to(ordinal: number): Uint32Array {
    return this.edges.subarray(this.first[ordinal], this.first[ordinal + 1]);
  }

  /** Ordinal of the node that an edge starts from. */
  sourceOf(edge: number): number {
    return sourceOfEdge(this.#firstEdge, edge);
  }
}

/** The node that an edge belongs to, found by bisection of the nodes' first edges. */
export function sourceOfEdge(firstEdge: Uint32Array, edge: number): number {
  let low = 0;
  let high = firstEdge.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (firstEdge[middle]! <= edge) low = middle;
    else high = middle;
  }
  return low;
}
