/**
 * Immediate dominators by Semi-NCA: L. Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems" (PhD
 * thesis, Princeton 2005, ch. 2), on the semidominators of T. Lengauer and R. E. Tarjan, "A Fast Algorithm for Finding
 * Dominators in a Flowgraph" (TOPLAS 1(1), 1979; https://doi.org/10.1145/357062.357071). Differences:
 * - predecessors that are ancestors are entered into `semi` during the search, so that only crossing edges are evaluated;
 * - labels are semidominators instead of vertices, which is enough for Semi-NCA;
 * - if the walk to the nearest common ancestor becomes long (a long list whose items share what they hold makes it
 *   quadratic), it uses jump pointers: E. W. Myers, "An applicative random-access stack" (IPL 17(5), 1983).
 */
import type { HeapSnapshot } from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';
import { batchesOf } from './crossing-batches.ts';
import type { CrossingEdges } from './crossing-edges.ts';
import { computeSpanningTree, type SpanningTree, unnumbered } from './spanning-tree.ts';
import type { SpareMemory, TreeMemory } from './tree-memory.ts';

export interface DominatorTree {
  /** By ordinal: the ordinal of the immediate dominator. The root is its own. */
  dominator: Uint32Array;
  /** Memory that is no longer used; large snapshots only. */
  spare?: SpareMemory;
  /** The kernel that contains the column; small snapshots only. */
  kernel?: GraphKernel;
}

/** Average number of steps per vertex after which jump pointers are built. */
const patience = 16;

/** Vertices per call of the kernel: code that V8 has optimised in the meantime is only used from the next call on. */
const verticesAtOnce = 16_384;

export function computeDominators(snapshot: HeapSnapshot): DominatorTree {
  const tree = computeSpanningTree(snapshot);
  const { crossing } = tree;
  const memory = tree.memory!;
  const root = snapshot.header.rootOrdinal;
  if (crossing instanceof GraphKernel) return inKernel(tree, crossing, root);
  evaluateSemidominators(tree, crossing, memory);
  const idom = computeImmediateDominators(tree);
  const dominator = byOrdinal(memory, idom, root);
  return { dominator, spare: memory.release(crossing.release(snapshot.nodes.count + 2)) };
}

/** The same steps for a spanning tree in the kernel. */
function inKernel(tree: SpanningTree, kernel: GraphKernel, root: number): DominatorTree {
  const { code } = kernel;
  const count = tree.number.length;
  code.sortCrossings();
  for (let last = tree.visited; last > 0; last -= verticesAtOnce)
    code.evaluateSemidominators(last, Math.max(1, last - verticesAtOnce + 1));
  // Results of the plain walk are kept; the walk with jump pointers finds them again at once.
  if (!code.findImmediateDominators(patience)) computeImmediateDominators(tree);
  code.orderNodes(root);
  kernel.hasDominators = true;
  return {
    dominator: kernel.words('dominator', count),
    kernel,
  };
}

/** Completes tree.semi with the crossing edges, in descending order of the vertices. */
function evaluateSemidominators(tree: SpanningTree, crossing: CrossingEdges, memory: TreeMemory): void {
  const { visited, parent, semi } = tree;
  const forest = new Forest(memory);
  let last = visited + 1;
  const linkDownTo = (vertex: number): void => {
    while (last > vertex) {
      last--;
      forest.link(last, parent[last]!, semi[last]!);
    }
  };
  for (const { first, end, starts, sources } of batchesOf(crossing)) {
    for (let vertex = end - 1; vertex >= first; vertex--) {
      const from = starts[vertex - first]!;
      const to = starts[vertex - first + 1]!;
      if (from === to) continue;
      linkDownTo(vertex + 1);
      let best = semi[vertex]!;
      for (let at = from; at < to && best > 1; at++) {
        const label = forest.evaluate(sources[at]!, vertex);
        if (label < best) best = label;
      }
      semi[vertex] = best;
    }
  }
}

/** The vertices above the current one; ancestor and label are adjacent in memory, for the cache. */
class Forest {
  /** [2v]: the ancestor; [2v + 1]: the smallest semidominator from v up to just below the ancestor. */
  readonly #links: Int32Array;
  readonly #path: Int32Array;

  constructor({ links, path }: TreeMemory) {
    this.#links = links;
    this.#path = path;
  }

  link(vertex: number, parent: number, semi: number): void {
    this.#links[2 * vertex] = parent;
    this.#links[2 * vertex + 1] = semi;
  }

  /** The smallest label from `vertex` up to just below `bound`. All vertices above `bound` must be linked. */
  evaluate(vertex: number, bound: number): number {
    const links = this.#links;
    if (links[2 * vertex]! <= bound) return links[2 * vertex + 1]!;
    const path = this.#path;
    let depth = 0;
    let at = vertex;
    for (let up = links[2 * at]!; up > bound; up = links[2 * at]!) {
      path[depth++] = at;
      at = up;
    }
    const top = links[2 * at]!;
    let best = links[2 * at + 1]!;
    while (depth > 0) {
      const below = 2 * path[--depth]!;
      links[below] = top;
      if (links[below + 1]! > best) links[below + 1] = best;
      else best = links[below + 1]!;
    }
    return best;
  }
}

/** The nearest ancestor of the parent, in the dominator tree so far, whose number is not greater than the semidominator. */
function computeImmediateDominators({ visited, parent, semi }: SpanningTree): Int32Array {
  const idom = parent;
  let steps = patience * visited;
  let jumps: JumpPointers | undefined;
  for (let vertex = 2; vertex <= visited; vertex++) {
    const bound = semi[vertex]!;
    let at = idom[vertex]!;
    if (jumps) at = jumps.firstAtMost(at, bound);
    else for (; at > bound; steps--) at = idom[at]!;
    idom[vertex] = at;
    jumps?.add(vertex);
    if (steps < 0) jumps ??= new JumpPointers(idom, visited, vertex);
  }
  return idom;
}

class JumpPointers {
  readonly #idom: Int32Array;
  readonly #jump: Int32Array;
  readonly #depth: Int32Array;

  /** Starts with the vertices up to `done`. */
  constructor(idom: Int32Array, vertices: number, done: number) {
    this.#idom = idom;
    this.#jump = new Int32Array(vertices + 1);
    this.#depth = new Int32Array(vertices + 1);
    this.#jump[1] = 1;
    for (let vertex = 2; vertex <= done; vertex++) this.add(vertex);
  }

  add(vertex: number): void {
    const up = this.#idom[vertex]!;
    const far = this.#jump[up]!;
    const depth = this.#depth;
    this.#depth[vertex] = depth[up]! + 1;
    const isBalanced = depth[up]! - depth[far]! === depth[far]! - depth[this.#jump[far]!]!;
    this.#jump[vertex] = isBalanced ? this.#jump[far]! : up;
  }

  firstAtMost(from: number, bound: number): number {
    let at = from;
    while (at > bound) at = this.#jump[at]! > bound ? this.#jump[at]! : this.#idom[at]!;
    return at;
  }
}

/** Unreached nodes become children of the root. */
function byOrdinal({ number, ordinal }: TreeMemory, idom: Int32Array, root: number): Uint32Array {
  const dominator = new Uint32Array(number.buffer);
  for (let node = 0; node < number.length; node++) {
    const vertex = number[node]!;
    if (vertex > 1) dominator[node] = ordinal[idom[vertex]!]!;
    else dominator[node] = vertex <= unnumbered ? unnumbered - vertex : root;
  }
  return dominator;
}
