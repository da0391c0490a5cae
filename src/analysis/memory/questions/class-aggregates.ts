/**
 * Count and sizes by class. The retained size of a class is the sum over those of its nodes that no other node of the class
 * dominates, so that nothing is counted twice within a class; retained sizes of different classes overlap. Nodes whose size
 * was moved to their owner don't count (DevTools' rule).
 */
import type { SizeColumn } from '../../../formats/heapsnapshot/index.ts';
import type { DominatedIndex } from '../graph/dominated-index.ts';
import type { DominatorTree } from '../graph/dominators.ts';
import type { RetainedSizes } from '../graph/retained-sizes.ts';
import type { SpareMemory } from '../graph/tree-memory.ts';
import type { GraphKernel } from '../kernel/graph-kernel.ts';
import type { ClassTable } from './classes.ts';

/** Greater than all distances. */
const unreached = 0x7fffffff;

/** Columns by row of ClassTable.kinds. */
export interface ClassAggregates {
  count: Uint32Array;
  /** The sum over all classes is the whole heap. */
  selfSize: Float64Array;
  retainedSize: Float64Array;
  /** The smallest distance of its nodes. Computed on first use: only tables show it. */
  readonly distance: Int32Array;
}

export function computeClassAggregates(
  classes: ClassTable,
  selfSize: SizeColumn,
  retained: RetainedSizes,
  distances: () => Int32Array,
  /** The index of dominated nodes, and whether it has been built. */
  dominated: { index: () => DominatedIndex; isThere: boolean },
  root: number,
  { dominator, kernel, spare }: Pick<DominatorTree, 'dominator'> & Partial<DominatorTree>,
): ClassAggregates {
  const rows = classes.kinds.length;
  const isThere =
    kernel?.holds('shallow', selfSize.narrow) &&
    kernel.holds('retained', retained) &&
    kernel.holds('distance', distances()) &&
    kernel.holds('row', classes.of) &&
    kernel.holds('first', dominated.index().first);
  if (kernel && isThere && rows <= kernel.code.classRoom.value) return sumInKernel(kernel, rows, root);
  const sums = sumUp(classes, selfSize);
  const isIndexed = kernel !== undefined || dominated.isThere;
  const byClass = isIndexed
    ? undefined
    : retainedByClass(classes, sums.count, selfSize, retained, dominator, spare);
  if (byClass) sums.retainedSize = byClass;
  else addRetained(sums.retainedSize, classes.of, selfSize, retained, dominated.index(), root, spare?.take());
  let distance: Int32Array | undefined;
  return {
    ...sums,
    get distance() {
      distance ??= smallestDistances(classes, selfSize, distances());
      return distance;
    },
  };
}

function sumInKernel(kernel: GraphKernel, rows: number, root: number): ClassAggregates {
  kernel.code.sumClasses(rows, unreached);
  kernel.code.sumClassesRetained(root);
  return {
    count: kernel.words('classCount', rows).slice(),
    selfSize: kernel.doubles('classSelf', rows).slice(),
    retainedSize: kernel.doubles('classRetained', rows).slice(),
    distance: kernel.numbers('classDistance', rows).slice(),
  };
}

function sumUp({ of, kinds }: ClassTable, selfSize: SizeColumn): Omit<ClassAggregates, 'distance'> {
  const rows = kinds.length;
  const count = new Uint32Array(rows);
  const selfSizes = new Float64Array(rows);
  const { narrow } = selfSize;
  for (let node = 0; node < narrow.length; node++) {
    if (narrow[node] === 0) continue;
    count[of[node]!]!++;
    selfSizes[of[node]!]! += selfSize.get(node);
  }
  return { count, selfSize: selfSizes, retainedSize: new Float64Array(rows) };
}

function smallestDistances(
  { of, kinds }: ClassTable,
  { narrow }: SizeColumn,
  distances: Int32Array,
): Int32Array {
  const smallest = new Int32Array(kinds.length).fill(unreached);
  for (let node = 0; node < narrow.length; node++)
    if (narrow[node] !== 0 && distances[node]! < smallest[of[node]!]!) smallest[of[node]!] = distances[node]!;
  return smallest;
}

/** Steps up the tree for each node, in all: about one is usual. */
const mostSteps = 8;

/**
 * The sums without an index of the tree: class by class, climbs from each node to what is known to be, or not to be, below
 * another node of its class. Undefined if that takes too many steps.
 */
function retainedByClass(
  { of, kinds }: ClassTable,
  count: Uint32Array,
  { narrow }: SizeColumn,
  retained: RetainedSizes,
  dominator: Uint32Array,
  spare: SpareMemory | undefined,
): Float64Array | undefined {
  const nodes = narrow.length;
  const sums = new Float64Array(kinds.length);
  const next = new Uint32Array(kinds.length);
  for (let row = 1; row < next.length; row++) next[row] = next[row - 1]! + count[row - 1]!;
  const order = spare?.work ?? new Uint32Array(nodes);
  for (let node = 0; node < nodes; node++) if (narrow[node] !== 0) order[next[of[node]!]!++] = node;
  /** By ordinal: twice the class's row plus two, and one more if the node or one above it is of the class. */
  const known = spare?.take()?.fill(0, 0, nodes) ?? new Uint32Array(nodes);
  let stepsLeft = mostSteps * nodes;
  for (let row = 0, from = 0; row < sums.length; from = next[row++]!) {
    const isBelow = 2 * row + 3;
    const end = next[row]!;
    for (let at = from; at < end; at++) known[order[at]!] = isBelow;
    let sum = 0;
    for (let at = from; at < end; at++) {
      const node = order[at]!;
      const owner = dominator[node]!;
      // The root is its own dominator.
      let above = owner;
      let before = node;
      while (above !== before && known[above]! >>> 1 !== row + 1) {
        before = above;
        above = dominator[above]!;
        stepsLeft--;
      }
      const answer = above === before ? isBelow - 1 : known[above]!;
      if (answer !== isBelow) sum += retained[node]!;
      for (let up = owner; up !== above; up = dominator[up]!) known[up] = answer;
      if (stepsLeft < 0) return undefined;
    }
    sums[row] = sum;
  }
  return sums;
}

/**
 * Walks down the dominator tree, marking the groups that are on the path from the root.
 * @param groups by node: the row of `sums` that its retained size is added to.
 */
export function addRetained(
  sums: Float64Array,
  groups: ArrayLike<number>,
  selfSize: SizeColumn,
  retained: RetainedSizes,
  dominated: DominatedIndex,
  root: number,
  room: Uint32Array | undefined,
): void {
  const { first, nodes } = dominated;
  const isOpen = new Uint8Array(sums.length);
  // By depth: the index of the path's node in `nodes`, and whether it marked its group.
  const at = room ?? new Uint32Array(nodes.length + 1);
  const marks = new Uint8Array(nodes.length + 1);
  let depth = 0;
  let node = root;
  while (true) {
    const row = groups[node]!;
    marks[depth] = 0;
    if (isOpen[row] === 0 && selfSize.narrow[node] !== 0) {
      sums[row]! += retained[node]!;
      isOpen[row] = marks[depth] = 1;
    }
    if (first[node] !== first[node + 1]) at[++depth] = first[node]!;
    else {
      // To the next sibling, or that of the nearest ancestor that has one.
      for (; depth > 0; depth--) {
        if (marks[depth]) isOpen[groups[nodes[at[depth]!]!]!] = 0;
        const above = depth > 1 ? nodes[at[depth - 1]!]! : root;
        if (++at[depth]! < first[above + 1]!) break;
      }
      if (depth === 0) return;
    }
    node = nodes[at[depth]!]!;
  }
}
