/**
 * Depth-first spanning tree of a snapshot's graph, over the edges that keep things alive as DevTools sees it:
 * - weak edges, edges to oneself and WeakMap edges from the table don't count; shortcut edges only from the root;
 * - "page" nodes are those that the program itself reaches (from the root's shortcut edges, over all but weak edges); an
 *   edge from a node that isn't one to a node that is counts only from the root, so that what the debugger or V8 also
 *   holds is attributed to the program (HeapSnapshot.ts of chrome-devtools-frontend 1.0.1705227);
 * - nodes that no such edge reaches hang off the root.
 * Visiting the page first lets one pass do for page flags, essential edges and numbering. Iterative throughout.
 *
 * Two thirds of all nodes have one edge to them. Such a node's dominator is known when it is visited; it is numbered only
 * if a node with more of them is found below it, so that half of the nodes take no part in what follows.
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

/** Name of the node under which Chrome puts documents; its edge from the root is an element. */
const documentTrees = '(Document DOM trees)';

/** Edges that the kernel looks at in one call: what V8 has compiled better meanwhile serves the next. */
const stepsAtOnce = 30_000;

/** Of a visited node without a number its dominator is kept, as this less its ordinal. -1 marks pending pages. */
export const unnumbered = -2;

/** Vertices are numbered from 1 in the order of their visit; the root is 1. */
export interface SpanningTree {
  /** How many vertices have a number. */
  visited: number;
  /** By ordinal: the vertex's number, or `unnumbered` less its dominator's ordinal; 0 or -1 if it was not reached. */
  number: Int32Array;
  /** By number: the tree parent's number. */
  parent: Int32Array;
  /** By number: the smallest number among those predecessors that are ancestors. */
  semi: Int32Array;
  /** The crossing edges, or who has them. */
  crossing: CrossingEdges | GraphKernel;
  /** Where the columns are, if not in the kernel. */
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
  /** Nodes visited, with a number or without. */
  #reached = 0;
  /** Page nodes reached only by an edge that doesn't count: they are page all the same. */
  readonly #sideDoors: number[] = [];
  /** A bit by ordinal: whether more than one edge leads to it, of whatever kind. */
  readonly #isShared: Uint8Array;
  /** A bit by ordinal: whether the page's only root has an edge to it that counts. None while others' trees are walked. */
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
      // There are more ways into the page than that root: all over again.
      this.#isHeld = this.#none;
      this.#crossing = noCrossings(this.#snapshot);
      this.#number.fill(0);
      this.#visited = this.#reached = this.#sideDoors.length = 0;
      pending = this.#visitFrom(targets);
    }
    this.#isHeld = this.#none;
    if (pending.size) this.#finishPage(pending);
  }

  /** The root and what its targets reach; returns the page nodes that are not among them. */
  #visitFrom(targets: number[]): Set<number> {
    this.#number[this.#root] = ++this.#visited;
    this.#reached++;
    if (this.#memory) this.#memory.ordinal[1] = this.#root;
    for (const target of targets) this.#reach(target, 0);
    return this.#closure(this.#sideDoors.filter((node) => this.#number[node] === 0));
  }

  /** Whether all ways into the page lead through one node: none of the root's other targets can be in its tree. */
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

  /** A tree edge from the root, or one more edge of the root to what was reached before. */
  #reach(target: number, lastPage: number): void {
    const known = this.#number[target]!;
    if (known === 0) this.#visit(target, lastPage);
    else if (known > 1) this.#semi[known] = 1;
  }

  /**
   * Page nodes behind edges that don't count (values of WeakMaps whose key is elsewhere; shortcut edges): visited now if
   * the root or another such node leads to them, else marked -1, so that no edge into them counts from outside.
   */
  #finishPage(pending: ReadonlySet<number>): void {
    const isPending = (edge: number): boolean =>
      this.#isStrongFromRoot(edge) && pending.has(this.#snapshot.edgeTarget(edge));
    for (const target of this.#rootTargets(isPending)) this.#reach(target, 0);
    for (const orphan of this.#orphans((node) => pending.has(node) && this.#number[node] === 0))
      this.#reach(orphan, 0);
    for (const node of pending) if (this.#number[node] === 0) this.#number[node] = -1;
  }

  /** Unvisited nodes that the given ones reach over all but weak edges. */
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

  /** Among the nodes that are `in` the unvisited, those that no edge of another one of them keeps alive. */
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

  /** Whether an edge of a node other than the root keeps its target alive, pages aside. */
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
   * Visits `start` as a child of the root, and all that it reaches. Edges to vertices numbered up to `lastPage` don't
   * count. State: `node` is the one whose edges [edge, end) are still to be looked at, `vertex` the number of the nearest
   * at or above it that has one; the stack holds the same of its ancestors, of which those from `loose` on have none yet.
   * Below an ancestor without a number no other way begins, so that `vertex` stands for it in every comparison.
   *
   * `anchor` is the nearest vertex at or above `node` that more than one edge leads to. Between the two each vertex
   * has its parent for its only predecessor, so its semidominator is its parent, and a crossing edge says no more than
   * one from the anchor would: most are then the same as one before, and the rest are settled on the spot.
   *
   * Where `start` is the page's only root, no semidominator in its tree is less than it (`least`), and it is that of all
   * that `start` itself has an edge to, wherever they are visited. `held` is the nearest of those at or above `vertex`, in
   * `heldAbove` are the others above it: a crossing edge to a vertex above `held` gives that the same semidominator, once
   * and for all, so it need not be kept. Of the edges to maps and prototypes these are the most.
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
    // The root holds it, whatever else does.
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
   * A crossing edge to `known` from the vertex on top of the stack, the anchor being at or below `known`: what it says
   * is the nearest common ancestor, which is on the stack. An edge to an ancestor says nothing.
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

  /** For edges of a type above `internal`. Those that don't count still say that their target is a page's. */
  #countsInWalk(value: number, edge: number, lastPage: number): boolean {
    const type = value >>> edgeTypeShift;
    if (type === EdgeType.hidden) return true;
    if (type === EdgeType.weak) return false;
    const target = value & edgeTargetMask;
    if (type === EdgeType.ephemeron && !this.#isTableEdge(edge)) return true;
    if (lastPage === 0 && this.#number[target] === 0) this.#sideDoors.push(target);
    return false;
  }

  /** As isFromTable, for an edge whose source is not at hand. */
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
