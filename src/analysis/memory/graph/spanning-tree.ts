/**
 * Depth-first spanning tree of a snapshot's graph, over the edges that keep objects alive according to DevTools:
 * - weak edges, edges to the node itself and WeakMap edges from the table don't count; shortcut edges only from the root;
 * - "page" nodes are those that the program itself reaches (from the root's shortcut edges, over all but weak edges); an
 *   edge from another node to a page node counts only from the root, so that what the debugger or V8 also holds is
 *   attributed to the program (HeapSnapshot.ts of chrome-devtools-frontend 1.0.1705227);
 * - nodes that no such edge reaches become children of the root.
 * Since the page is visited first, one pass computes page flags, essential edges and numbers. Iterative throughout.
 *
 * Two thirds of all nodes have one incoming edge. The dominator of such a node is known when it is visited, and it is
 * numbered only if a node with several incoming edges is found below it, so that half of the nodes can be ignored in
 * all later steps.
 */
import {
  EdgeType,
  edgeTargetMask,
  edgeTypeShift,
  type HeapSnapshot,
  NodeType,
  sourceOfEdge,
} from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';
import { sideBucketsFor } from './crossing-batches.ts';
import { CrossingEdges } from './crossing-edges.ts';
import { type Ephemerons, markEphemerons } from './ephemerons.ts';
import { findShared } from './shared-nodes.ts';
import { TreeMemory } from './tree-memory.ts';

/** Name of the node below which Chrome places documents; its edge from the root is an element edge. */
const documentTrees = '(Document DOM trees)';

/** Edges per call of the kernel: code that V8 has optimised in the meantime is only used from the next call on. */
const stepsAtOnce = 30_000;

/**
 * A visited node without a number stores its dominator: this value minus the dominator's ordinal. -1 marks pending page
 * nodes.
 */
export const unnumbered = -2;

/** Vertices are numbered from 1 in visiting order; the root is 1. */
export interface SpanningTree {
  /** Number of vertices that have a number. */
  visited: number;
  /** By ordinal: the vertex's number, or `unnumbered` minus the ordinal of its dominator; 0 or -1 if it was not reached. */
  number: Int32Array;
  /** By number: the number of the tree parent. */
  parent: Int32Array;
  /** By number: the smallest number among the predecessors that are ancestors. */
  semi: Int32Array;
  /** The crossing edges, or the kernel that contains them. */
  crossing: CrossingEdges | GraphKernel;
  /** The columns' memory, unless they are in the kernel. */
  memory: TreeMemory | undefined;
}

export function computeSpanningTree(snapshot: HeapSnapshot): SpanningTree {
  return new Search(snapshot, markEphemerons(snapshot)).run();
}

class Search {
  readonly #snapshot: HeapSnapshot;
  readonly #ephemerons: Ephemerons;
  readonly #root: number;
  readonly #number: Int32Array;
  readonly #parent: Int32Array;
  readonly #semi: Int32Array;
  #crossing: CrossingEdges | GraphKernel;
  readonly #memory: TreeMemory | undefined;
  #visited = 0;
  /** Number of visited nodes, with or without a number. */
  #reached = 0;
  /** Page nodes that were only reached by an edge that doesn't count; they belong to the page nevertheless. */
  readonly #sideDoors: number[] = [];
  /** One bit per ordinal: whether more than one edge of any type leads to it. */
  readonly #isShared: Uint8Array;
  /**
   * One bit per ordinal: whether the only root of the page has a counting edge to it. All zero while other trees are walked.
   */
  #isHeld: Uint8Array;
  readonly #none: Uint8Array;

  constructor(snapshot: HeapSnapshot, ephemerons: Ephemerons) {
    const count = snapshot.nodes.count;
    this.#snapshot = snapshot;
    this.#ephemerons = ephemerons;
    this.#root = snapshot.header.rootOrdinal;
    const kernel = GraphKernel.unwalked(snapshot);
    this.#memory = kernel ? undefined : new TreeMemory(count);
    const { number, parent, semi } = this.#memory ?? columnsOf(kernel!, count);
    this.#number = number;
    this.#parent = parent;
    this.#semi = semi;
    this.#crossing = kernel ?? noCrossings(snapshot);
    this.#isShared = findShared(snapshot);
    this.#none = new Uint8Array(this.#isShared.length);
    this.#isHeld = this.#none;
    kernel?.code.startTree();
    if (kernel) kernel.counts = (value, edge, lastPage) => this.#countsInWalk(value, edge, lastPage);
  }

  run(): SpanningTree {
    this.#visitPage();
    const lastPage = this.#visited;
    for (const target of this.#rootTargets((edge) => this.#isStrongFromRoot(edge)))
      this.#reach(target, lastPage);
    for (const orphan of this.#orphans((node) => this.#number[node] === 0)) this.#reach(orphan, lastPage);
    return {
      visited: this.#visited,
      number: this.#number,
      parent: this.#parent,
      semi: this.#semi,
      crossing: this.#crossing,
      memory: this.#memory,
    };
  }

  #visitPage(): void {
    const targets = [...this.#rootTargets((edge) => this.#startsPage(edge))];
    if (this.#memory && this.#hasOnlyRoot(targets)) this.#isHeld = this.#heldBy(targets[0]!);
    let pending = this.#visitFrom(targets);
    if (pending.size && this.#isHeld !== this.#none) {
      // There are more entries into the page than that root, so the search starts again.
      this.#isHeld = this.#none;
      this.#crossing = noCrossings(this.#snapshot);
      this.#number.fill(0);
      this.#visited = this.#reached = this.#sideDoors.length = 0;
      pending = this.#visitFrom(targets);
    }
    this.#isHeld = this.#none;
    if (pending.size) this.#finishPage(pending);
  }

  /** Visits the root and what its targets reach; returns the page nodes that were not reached. */
  #visitFrom(targets: number[]): Set<number> {
    this.#number[this.#root] = ++this.#visited;
    this.#reached++;
    if (this.#memory) this.#memory.ordinal[1] = this.#root;
    for (const target of targets) this.#reach(target, 0);
    return this.#closure(this.#sideDoors.filter((node) => this.#number[node] === 0));
  }

  /** Whether the page can only be entered through one node: no other target of the root may be in its tree. */
  #hasOnlyRoot([only, ...others]: number[]): boolean {
    if (only === undefined || others.length) return false;
    for (const target of this.#rootTargets((edge) => this.#isStrongFromRoot(edge)))
      if (target !== only && this.#isShared[target >>> 3]! & (1 << (target & 7))) return false;
    return true;
  }

  #heldBy(node: number): Uint8Array {
    const { firstEdge } = this.#snapshot.nodes;
    const isHeld = new Uint8Array(this.#isShared.length);
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      const target = this.#snapshot.edgeTarget(edge);
      if (target !== node && this.#counts(node, edge)) isHeld[target >>> 3]! |= 1 << (target & 7);
    }
    return isHeld;
  }

  *#rootTargets(wanted: (edge: number) => boolean): Generator<number> {
    const { firstEdge } = this.#snapshot.nodes;
    for (let edge = firstEdge[this.#root]!; edge < firstEdge[this.#root + 1]!; edge++)
      if (wanted(edge)) yield this.#snapshot.edgeTarget(edge);
  }

  #startsPage(edge: number): boolean {
    const type = this.#snapshot.edgeType(edge);
    if (type === EdgeType.shortcut) return true;
    const target = this.#snapshot.edgeTarget(edge);
    return (
      type === EdgeType.element &&
      this.#snapshot.nodes.type[target] === NodeType.synthetic &&
      this.#snapshot.nodeName(target) === documentTrees
    );
  }

  #isStrongFromRoot(edge: number): boolean {
    const type = this.#snapshot.edgeType(edge);
    if (type === EdgeType.ephemeron) return !this.#isFromTable(this.#root, edge);
    return type !== EdgeType.weak;
  }

  /** A tree edge from the root, or another edge of the root to a node reached before. */
  #reach(target: number, lastPage: number): void {
    const known = this.#number[target]!;
    if (known === 0) this.#visit(target, lastPage);
    else if (known > 1) this.#semi[known] = 1;
  }

  /**
   * Page nodes behind edges that don't count (values of WeakMaps whose key is elsewhere; shortcut edges): visited now if the
   * root or another such node leads to them, otherwise marked -1, so that no edge from outside counts for them.
   */
  #finishPage(pending: ReadonlySet<number>): void {
    const isPending = (edge: number): boolean =>
      this.#isStrongFromRoot(edge) && pending.has(this.#snapshot.edgeTarget(edge));
    for (const target of this.#rootTargets(isPending)) this.#reach(target, 0);
    for (const orphan of this.#orphans((node) => pending.has(node) && this.#number[node] === 0))
      this.#reach(orphan, 0);
    for (const node of pending) if (this.#number[node] === 0) this.#number[node] = -1;
  }

  /** Unvisited nodes that are reachable from `nodes` by all but weak edges. */
  #closure(nodes: number[]): Set<number> {
    const { firstEdge } = this.#snapshot.nodes;
    const found = new Set(nodes);
    for (const node of found)
      for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
        const target = this.#snapshot.edgeTarget(edge);
        if (this.#number[target] === 0 && this.#snapshot.edgeType(edge) !== EdgeType.weak) found.add(target);
      }
    return found;
  }

  /** The unvisited nodes for which `isIn` holds and that no edge of another one of them keeps alive. */
  #orphans(isIn: (node: number) => boolean): number[] {
    const { count, firstEdge } = this.#snapshot.nodes;
    if (this.#reached === count) return [];
    const left: number[] = [];
    const kept = new Set<number>();
    for (let node = 0; node < count; node++) {
      const known = this.#number[node]!;
      if ((known !== 0 && known !== -1) || !isIn(node)) continue;
      left.push(node);
      for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
        const target = this.#snapshot.edgeTarget(edge);
        if (target !== node && this.#counts(node, edge)) kept.add(target);
      }
    }
    return left.filter((node) => !kept.has(node));
  }

  /** Whether an edge of a node other than the root keeps its target alive, regardless of pages. */
  #counts(node: number, edge: number): boolean {
    const type = this.#snapshot.edgeType(edge);
    if (type === EdgeType.weak || type === EdgeType.shortcut) return false;
    return type !== EdgeType.ephemeron || !this.#isFromTable(node, edge);
  }

  #isFromTable(node: number, edge: number): boolean {
    const name = this.#snapshot.edges.nameOrIndex.get(edge);
    return this.#ephemerons.tableId.get(name) === this.#snapshot.nodes.id.get(node);
  }

  #visit(start: number, lastPage: number): void {
    const crossing = this.#crossing;
    if (crossing instanceof CrossingEdges) this.#walk(start, lastPage, crossing, this.#memory!);
    else {
      crossing.code.visited.value = this.#visited;
      crossing.code.walk(start);
      while (crossing.code.goOn(lastPage, stepsAtOnce));
      this.#visited = crossing.code.visited.value;
      this.#reached = this.#visited;
    }
  }

  /**
   * Visits `start` as a child of the root, and all nodes that it reaches. Edges to vertices numbered up to `lastPage` don't
   * count. State: `node` is the node whose edges [edge, end) remain to be visited, `vertex` the number of the nearest
   * numbered node at or above it. The stack contains the same for its ancestors; those from `loose` on have no number yet.
   * There is no other way into the tree below an ancestor without a number, so `vertex` can replace it in every comparison.
   *
   * `anchor` is the nearest vertex at or above `node` with more than one incoming edge. Between the two, the parent of each
   * vertex is its only predecessor and so its semidominator, and a crossing edge is equivalent to one from the anchor: most
   * of these repeat an earlier one, and the rest are settled at once.
   *
   * If `start` is the only root of the page, it is the smallest semidominator in its tree (`least`), and it is the
   * semidominator of all nodes that `start` has an edge to, wherever they are visited. `held` is the nearest of those at or
   * above `vertex`, and `heldAbove` contains the others above it. A crossing edge to a vertex above `held` gives it the same
   * semidominator, which is final, so the edge isn't stored. Most edges to maps and prototypes are of this kind.
   */
  #walk(start: number, lastPage: number, crossing: CrossingEdges, memory: TreeMemory): void {
    const { firstEdge } = this.#snapshot.nodes;
    const packed = this.#snapshot.edges.packed;
    const edges = new Int32Array(packed.buffer, packed.byteOffset, packed.length);
    const { number, parent, semi, ordinal, stack } = memory;
    const isShared = this.#isShared;
    const isHeld = this.#isHeld;
    const heldAbove: number[] = [];
    let held = 0;
    let visited = this.#visited;
    let reached = this.#reached;
    let top = 0;
    let loose = 4;
    let node = start;
    let vertex = ++visited;
    const least = vertex;
    reached++;
    // The root has an edge to it, whatever other edges there are.
    let anchor = vertex;
    number[start] = vertex;
    ordinal[vertex] = start;
    parent[vertex] = 1;
    semi[vertex] = 1;
    let edge = firstEdge[start]!;
    let end = firstEdge[start + 1]!;
    while (true) {
      if (edge === end) {
        if (top === 0) break;
        top -= 4;
        if (loose > top + 4) loose = top + 4;
        node = stack[top]!;
        vertex = stack[top + 1]!;
        anchor = stack[top + 2]!;
        edge = stack[top + 3]! >>> 0;
        end = firstEdge[node + 1]!;
        while (held > vertex) held = heldAbove.pop()!;
        continue;
      }
      const value = edges[edge++]!;
      const target = value & edgeTargetMask;
      if (value < 0 && !this.#countsInWalk(value, edge - 1, lastPage)) continue;
      const known = number[target]!;
      if (known > vertex) {
        if (semi[known]! > vertex) semi[known] = vertex;
      } else if (known > lastPage) {
        if (known < held) {
          if (semi[known]! > least) semi[known] = least;
        } else if (known < anchor) crossing.add(known, anchor);
        else if (known < vertex) this.#settle(known, top, stack);
      } else if (known === 0) {
        stack[top] = node;
        stack[top + 1] = vertex;
        stack[top + 2] = anchor;
        stack[top + 3] = edge;
        top += 4;
        reached++;
        if (isShared[target >>> 3]! & (1 << (target & 7))) {
          for (; loose < top; loose += 4) {
            ordinal[++visited] = stack[loose]!;
            parent[visited] = vertex;
            semi[visited] = vertex;
            vertex = visited;
            stack[loose + 1] = vertex;
          }
          number[target] = ++visited;
          ordinal[visited] = target;
          parent[visited] = vertex;
          if (isHeld[target >>> 3]! & (1 << (target & 7))) {
            semi[visited] = least;
            heldAbove.push(held);
            held = visited;
          } else semi[visited] = vertex;
          vertex = visited;
          anchor = vertex;
          loose = top + 4;
        } else number[target] = unnumbered - node;
        node = target;
        edge = firstEdge[target]!;
        end = firstEdge[target + 1]!;
      }
    }
    this.#visited = visited;
    this.#reached = reached;
  }

  /**
   * Handles a crossing edge to `known` from the vertex on top of the stack, with the anchor at or below `known`: the
   * semidominator candidate is their nearest common ancestor, which is on the stack. Edges to an ancestor have no effect.
   */
  #settle(known: number, top: number, stack: Int32Array): void {
    let low = 0;
    let high = top >>> 2;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (stack[4 * middle + 1]! <= known) low = middle + 1;
      else high = middle;
    }
    const ancestor = low > 0 ? stack[4 * low - 3]! : 1;
    if (ancestor !== known && ancestor < this.#semi[known]!) this.#semi[known] = ancestor;
  }

  /** For edge types above `internal`. Edges that don't count still show that their target belongs to a page. */
  #countsInWalk(value: number, edge: number, lastPage: number): boolean {
    const type = value >>> edgeTypeShift;
    if (type === EdgeType.hidden) return true;
    if (type === EdgeType.weak) return false;
    const target = value & edgeTargetMask;
    if (type === EdgeType.ephemeron && !this.#isTableEdge(edge)) return true;
    if (lastPage === 0 && this.#number[target] === 0) this.#sideDoors.push(target);
    return false;
  }

  /** Like isFromTable, for an edge whose source is not known. */
  #isTableEdge(edge: number): boolean {
    return this.#isFromTable(sourceOfEdge(this.#snapshot.nodes.firstEdge, edge), edge);
  }
}

function columnsOf(kernel: GraphKernel, count: number): Pick<TreeMemory, 'number' | 'parent' | 'semi'> {
  return {
    number: kernel.numbers('number', count),
    parent: kernel.numbers('parent', count + 1),
    semi: kernel.numbers('semi', count + 1),
  };
}

const noCrossings = ({ nodes, edges }: HeapSnapshot): CrossingEdges =>
  new CrossingEdges(nodes.count + 1, edges.count, sideBucketsFor(edges.count));
