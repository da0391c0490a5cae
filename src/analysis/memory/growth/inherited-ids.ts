/**
 * V8 knows objects by their address: an object that was allocated where another one was freed since the last snapshot takes
 * over its id. In a program that makes many objects anew (a parser's trees), a large one then seems to be a small one that
 * grew. It is recognised by what is around it: another owner than before, which is not above it either, and nothing in it that its id held before.
 */
import { type HeapSnapshot, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

/** For a whole comparison; what is asked after them counts as the same object. */
const mostSteps = 10_000_000;

/** By row: the id of the object that dominates it, where V8's tables and elements belong to theirs. */
export function ownerIds(heap: Heap, rows: Uint32Array): Uint32Array {
  const { id } = heap.snapshot.nodes;
  const owners = new Owners(heap);
  const ids = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) ids[at] = id.get(owners.of(rows[at]!));
  return ids;
}

/** The objects of the last snapshot that have a freed one's id. */
export class InheritedIds {
  readonly #heap: Heap;
  readonly #ownerBefore: Uint32Array;
  readonly #owners: Owners;
  #stepsLeft = mostSteps;

  /** @param ownerBefore by ordinal: the owner's id in the first snapshot, 0 for new objects. */
  constructor(heap: Heap, ownerBefore: Uint32Array) {
    this.#heap = heap;
    this.#ownerBefore = ownerBefore;
    this.#owners = new Owners(heap);
  }

  has(node: number): boolean {
    const { id } = this.#heap.snapshot.nodes;
    const before = this.#ownerBefore[node]!;
    if (before === id.get(this.#owners.of(node)) || this.#holdsSome(node, id.get(node))) return false;
    return !this.#isBelow(node, before) && this.#stepsLeft > 0;
  }

  /** The last link of a list had what is above the list as owner, since a variable referred to it too, and is still below that. */
  #isBelow(node: number, ownerId: number): boolean {
    const { snapshot, tree, root } = this.#heap;
    for (let at = node; at !== root && this.#stepsLeft-- > 0; ) {
      at = tree.dominator[at]!;
      if (snapshot.nodes.id.get(at) === ownerId) return true;
    }
    return false;
  }

  #holdsSome(node: number, id: number): boolean {
    const { snapshot, dominated } = this.#heap;
    const open = [node];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const child of dominated.of(at)) {
        if (this.#stepsLeft-- <= 0) return false;
        if (isInternal(snapshot, child)) open.push(child);
        else if (this.#ownerBefore[child] === id) return true;
      }
    return false;
  }
}

const unknown = 0xffff_ffff;

/** The nearest dominator of each node that is not internal to V8. Each node is climbed over once, however long the ways are. */
class Owners {
  readonly #heap: Heap;
  /** By ordinal. */
  readonly #known: Uint32Array;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#known = new Uint32Array(heap.nodeCount).fill(unknown);
  }

  of(node: number): number {
    const { snapshot, tree, root } = this.#heap;
    const known = this.#known;
    let owner = tree.dominator[node]!;
    while (owner !== root && isInternal(snapshot, owner))
      owner = known[owner] === unknown ? tree.dominator[owner]! : known[owner]!;
    for (let at = node; at !== owner && known[at] === unknown; at = tree.dominator[at]!) known[at] = owner;
    return owner;
  }
}

function isInternal({ nodes }: HeapSnapshot, node: number): boolean {
  const type = nodes.type[node]!;
  return type === NodeType.array || type === NodeType.hidden;
}
