/**
 * V8 knows objects by their address: an object that was allocated where another one was freed since the last snapshot takes
 * over its id. In a program that makes many objects anew (a parser's trees), a large one then seems to be a small one that
 * grew. It is recognised by what is around it: another owner than before, which is not above it either, and nothing in it that its id held before.
 */
import { type HeapSnapshot, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

/** A longer way up is not climbed; then the object counts as the same. */
const mostSteps = 100_000;

/** By row: the id of the object that dominates it, where V8's tables and elements belong to theirs. */
export function ownerIds(heap: Heap, rows: Uint32Array): Uint32Array {
  const { id } = heap.snapshot.nodes;
  const owners = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) owners[at] = id.get(ownerNow(heap, rows[at]!));
  return owners;
}

/** @param ownerBefore by ordinal: the owner's id in the first snapshot, 0 for new objects. */
export function hasInheritedId(heap: Heap, node: number, ownerBefore: Uint32Array): boolean {
  const { id } = heap.snapshot.nodes;
  const before = ownerBefore[node]!;
  if (before === id.get(ownerNow(heap, node)) || holdsSome(heap, node, id.get(node), ownerBefore))
    return false;
  return !isBelow(heap, node, before);
}

function ownerNow({ snapshot, tree, root }: Heap, node: number): number {
  let owner = tree.dominator[node]!;
  while (owner !== root && isInternal(snapshot, owner)) owner = tree.dominator[owner]!;
  return owner;
}

/** The last link of a list had what is above the list as owner, since a variable referred to it too, and is still below that. */
function isBelow({ snapshot, tree, root }: Heap, node: number, owner: number): boolean {
  let at = node;
  for (let steps = 0; at !== root; steps++) {
    at = tree.dominator[at]!;
    if (steps === mostSteps || snapshot.nodes.id.get(at) === owner) return true;
  }
  return false;
}

function holdsSome(heap: Heap, node: number, id: number, ownerBefore: Uint32Array): boolean {
  const open = [node];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const child of heap.dominated.of(at)) {
      if (ownerBefore[child] === id && !isInternal(heap.snapshot, child)) return true;
      if (isInternal(heap.snapshot, child)) open.push(child);
    }
  return false;
}

function isInternal({ nodes }: HeapSnapshot, node: number): boolean {
  const type = nodes.type[node]!;
  return type === NodeType.array || type === NodeType.hidden;
}
