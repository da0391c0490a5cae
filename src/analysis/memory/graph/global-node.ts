/**
 * Whether a node is a root or the global object, which retain everything. Since Node 26 the global object is below its native
 * context.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

export function isGlobal(heap: Heap, node: number): boolean {
  const { type, name } = heap.snapshot.nodes;
  return node === heap.root || type[node] === NodeType.synthetic || isNameOfGlobal(heap, name[node]!);
}

/** By name: 1 for the global object and contexts, 2 for others, 0 if not asked for yet. A comparison asks for a million nodes. */
const namesOf = new WeakMap<Heap, Uint8Array>();

function isNameOfGlobal(heap: Heap, name: number): boolean {
  const known = namesOf.get(heap) ?? new Uint8Array(heap.snapshot.strings.count);
  namesOf.set(heap, known);
  if (!known[name])
    known[name] = /^(global|Window|system \/ NativeContext)\b/.test(heap.snapshot.strings.get(name)) ? 1 : 2;
  return known[name] === 1;
}
