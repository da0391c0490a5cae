/**
 * Tells growth once: of containers that lead to one holder or one chain, or that are nested in each other, the one that explains
 * the others' growth is kept.
 */
import type { HeapGrownNode } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';

/**
 * @param below of containers that dominate what was added.
 * @param shared of objects that only the roots dominate. Largest growth first.
 */
export function toldOnce(
  heap: Heap,
  below: readonly HeapGrownNode[],
  shared: readonly HeapGrownNode[],
): HeapGrownNode[] {
  const chains = new Set(shared.filter(isLinkAmongLinks).map(({ node }) => node.class));
  const others = onePerHolder(below).filter((row) => !isLinkAmongLinks(row) || !chains.has(row.node.class));
  return withoutExplained(heap, [...others, ...shared]);
}

/** Links were added to a link: of several that hold the newest ones, the one that sharedGrowth found stands for the chain. */
const isLinkAmongLinks = ({ node, added }: HeapGrownNode): boolean => added?.class === node.class;

/**
 * Containers that are nested through new objects lead to the same holder, and each grew by what it holds: only the largest is
 * reported, since the growth is the same.
 */
function onePerHolder(rows: readonly HeapGrownNode[]): HeapGrownNode[] {
  const byHolder = new Map<number, HeapGrownNode>();
  for (const row of rows) {
    const known = byHolder.get(row.node.id);
    if (!known || row.growthBytes > known.growthBytes) byHolder.set(row.node.id, row);
  }
  return [...byHolder.values()];
}

/** Removes containers whose growth is explained by those below them: a Map of arrays that each grew. */
function withoutExplained(heap: Heap, grown: HeapGrownNode[]): HeapGrownNode[] {
  const rows = mergeByPath(grown);
  const isBelow = (below: HeapGrownNode, row: HeapGrownNode): boolean =>
    (below.path.length > row.path.length && below.path.startsWith(row.path)) ||
    dominates(heap, heap.snapshot.findById(row.node.id), heap.snapshot.findById(below.node.id));
  const explains = (below: HeapGrownNode, row: HeapGrownNode): boolean =>
    below !== row && below.growthBytes >= row.growthBytes * 0.8 && isBelow(below, row);
  return rows
    .filter((row) => !rows.some((below) => explains(below, row)))
    .sort((a, b) => b.growthBytes - a.growthBytes);
}

function dominates({ tree, root }: Heap, above: number, node: number): boolean {
  for (let at = node, steps = 0; at !== root && steps < 1000; steps++) {
    at = tree.dominator[at]!;
    if (at === above) return true;
  }
  return false;
}

/** If objects of several classes were added to one container, it is reported with the class that has most bytes. */
function mergeByPath(grown: HeapGrownNode[]): HeapGrownNode[] {
  const rows = new Map<string, HeapGrownNode>();
  const isText = (row: HeapGrownNode): boolean => row.added?.class.startsWith('(') === true;
  const ordered = [...grown].sort(
    (a, b) => Number(isText(a)) - Number(isText(b)) || b.growthBytes - a.growthBytes,
  );
  for (const row of ordered) {
    const first = rows.get(row.path);
    if (!first) rows.set(row.path, { ...row });
    else {
      first.growthBytes += row.growthBytes;
      first.beforeBytes += row.beforeBytes;
      if (first.heldBytes)
        first.heldBytes = first.heldBytes.map((bytes, at) => bytes + (row.heldBytes?.[at] ?? 0));
    }
  }
  return [...rows.values()];
}
