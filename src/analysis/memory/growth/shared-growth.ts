/**
 * New objects that only the roots dominate, because several things hold them: a job that is in a list and in a timer. Grouped
 * by class, and reported at the container that they have in common. A chain whose newest link is its head (`store = {parent:
 * store}`) is reported at that link. Objects without anything in common (sockets, which Node's own handles hold) are reported as a
 * class, but only if they are a good part of what the heap grew by, and no container received as many: of two ports that hold
 * each other, a list has one and a handle the other.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapGrownNode } from '../../../model/heap.ts';
import { isGlobal } from '../graph/global-node.ts';
import type { Heap } from '../heap.ts';
import { nodeRow } from '../questions/node-rows.ts';
import { generalPath } from '../questions/paths.ts';
import { accumulationBelow, isHeadOfChain } from '../suspects/accumulation.ts';
import { commonHolder } from '../suspects/common-holder.ts';
import { registeredSymbols } from '../suspects/registered-symbols.ts';
import { addedRow } from './added-objects.ts';

const fewestObjects = 8;
const leastBytes = 16 * 1024;
/** If more than half of them replace freed objects, nothing grew. */
const leastNetShare = 0.5;
const ofProgram: ReadonlySet<number> = new Set([
  NodeType.object,
  NodeType.closure,
  NodeType.native,
  NodeType.string,
  NodeType.concatenatedString,
  NodeType.slicedString,
]);
/** Texts are held by what uses them, which grows too. */
const texts: ReadonlySet<number> = new Set([
  NodeType.string,
  NodeType.concatenatedString,
  NodeType.slicedString,
]);
/** Of the growth of the heap, for objects that nothing but the roots holds. */
const leastShareOfRoots = 0.25;
/** Of as many objects as are in the container. */
const leastShareOfPairs = 0.9;

/** For each snapshot, how many objects a class has and how much they retain. */
interface ClassSums {
  totalBytes: number;
  classes: ReadonlyMap<string, { count: number; retainedSize: number }>;
}

/**
 * @param isNew by ordinal.
 * @param net the share of a class's new objects that don't replace freed ones.
 * @param below the containers that dominate what was added to them.
 */
export function sharedGrowth(
  digests: readonly ClassSums[],
  heap: Heap,
  isNew: Uint8Array,
  net: (className: string) => number,
  below: readonly HeapGrownNode[],
): HeapGrownNode[] {
  const rows: HeapGrownNode[] = [];
  const heapGrowth = digests.at(-1)!.totalBytes - digests[0]!.totalBytes;
  const heads = new Set<number>();
  for (const [name, nodes] of newBelowRoots(heap, isNew)) {
    const added = addedRow(heap, name, nodes);
    if (added.retainedSizeBytes < leastBytes) continue;
    if (nodes.length < fewestObjects) {
      const head = newestLink(heap, nodes, isNew);
      if (head >= 0) heads.add(head);
      continue;
    }
    const share = net(name);
    if (share < leastNetShare) continue;
    const heldBytes = digests.map((digest) => digest.classes.get(name)?.retainedSize ?? 0);
    const grown = { count: 1, beforeBytes: heldBytes[0]!, heldBytes, added };
    const holder = commonHolder(heap, nodes);
    const growthBytes = Math.round(added.retainedSizeBytes * share);
    if (holder >= 0) rows.push({ ...grown, ...placeOf(heap, holder), growthBytes });
    else if (
      growthBytes >= heapGrowth * leastShareOfRoots &&
      !below.some(({ added: to }) => to?.class === name && to.count >= nodes.length * leastShareOfPairs) &&
      !texts.has(heap.snapshot.nodes.type[nodes[0]!]!)
    )
      rows.push({ ...grown, ...placeOf(heap, largestOf(heap, nodes)), count: nodes.length, growthBytes });
  }
  const chains = [...heads].flatMap((head) => grownChain(digests, heap, head, net));
  return [...rows, ...chains, ...grownRegistry(digests, heap, isNew)];
}

/**
 * The new first link of a chain, or -1: one of these, or what one of them leads to, such as the context of a function that is
 * new too.
 */
function newestLink(heap: Heap, nodes: readonly number[], isNew: Uint8Array): number {
  for (const node of nodes) {
    if (heap.retained[node]! < leastBytes) continue;
    const below = accumulationBelow(heap, node);
    if (isNew[below] && isHeadOfChain(heap, below)) return below;
  }
  return -1;
}

/** A chain grew by as many links as there are more of its class. */
function grownChain(
  digests: readonly ClassSums[],
  heap: Heap,
  head: number,
  net: (className: string) => number,
): HeapGrownNode[] {
  const name = heap.className(head);
  if (net(name) < leastNetShare) return [];
  const sums = digests.map((digest) => digest.classes.get(name) ?? { count: 0, retainedSize: 0 });
  const [first, last] = [sums[0]!, sums.at(-1)!];
  const growthBytes = last.retainedSize - first.retainedSize;
  const links = { count: last.count - first.count, retainedSizeBytes: growthBytes };
  const heldBytes = sums.map(({ retainedSize }) => retainedSize);
  return [
    {
      ...placeOf(heap, head),
      count: 1,
      beforeBytes: first.retainedSize,
      growthBytes,
      heldBytes,
      added: { ...addedRow(heap, name, [head]), ...links },
    },
  ];
}

/** The registry of `Symbol.for`, which V8 replaces by a larger one, so that it is new itself. */
function grownRegistry(digests: readonly ClassSums[], heap: Heap, isNew: Uint8Array): HeapGrownNode[] {
  const registry = registeredSymbols(heap);
  const added = registry?.symbols.filter((symbol) => isNew[symbol]) ?? [];
  if (!registry || added.length < fewestObjects) return [];
  const name = heap.className(added[0]!);
  const counts = digests.map((digest) => digest.classes.get(name)?.count ?? 0);
  const each = registry.bytes / registry.symbols.length;
  const heldBytes = counts.map((count) =>
    Math.round(each * Math.max(0, registry.symbols.length - counts.at(-1)! + count)),
  );
  const growthBytes = heldBytes.at(-1)! - heldBytes[0]!;
  if (growthBytes < leastBytes) return [];
  return [
    {
      ...placeOf(heap, registry.table),
      count: 1,
      beforeBytes: heldBytes[0]!,
      growthBytes,
      heldBytes,
      added: { class: name, count: added.length, retainedSizeBytes: growthBytes },
    },
  ];
}

const placeOf = (heap: Heap, node: number): Pick<HeapGrownNode, 'node' | 'path'> => ({
  node: nodeRow(heap, node),
  path: generalPath(heap, node),
});

const largestOf = ({ retained }: Heap, nodes: readonly number[]): number =>
  nodes.reduce((most, node) => (retained[node]! > retained[most]! ? node : most));

function newBelowRoots(heap: Heap, isNew: Uint8Array): Map<string, number[]> {
  const { tree, classes, snapshot } = heap;
  const { type } = snapshot.nodes;
  const byClass = new Map<string, number[]>();
  // Several kinds may have one name.
  const ofKind: number[][] = [];
  for (let node = 0; node < heap.nodeCount; node++) {
    if (!isNew[node] || !ofProgram.has(type[node]!) || !isGlobal(heap, tree.dominator[node]!)) continue;
    const kind = classes.of[node]!;
    let nodes = ofKind[kind];
    if (!nodes) {
      const { name } = classes.kinds[kind]!;
      nodes = byClass.get(name) ?? [];
      byClass.set(name, nodes);
      ofKind[kind] = nodes;
    }
    nodes.push(node);
  }
  return byClass;
}
