/**
 * Whether a container shows that it grows, which its size alone doesn't: a table, an index and a vocabulary that were filled in a
 * loop are as large as a leak, and V8's ids don't tell when an object was created (they follow the order in memory when the first
 * snapshot is taken: a table that was filled at the start has the same range of ids as what requests have added since). But no
 * program loads thousands of promises, timers, sockets or callbacks from its data.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { isHeadOfChain } from './accumulation.ts';
import { deepestHolder } from './common-holder.ts';
import { isLive, referredTo, sampleOf } from './crowds.ts';

/** Fewer functions may be a program's own: its routes, its commands. */
const fewestCallbacks = 1000;
const most = 0.8;
const eventClasses = /^(?:IncomingMessage|ServerResponse|ClientRequest|AbortController|AbortSignal|WeakRef)$/;

export function showsGrowth(heap: Heap, node: number): boolean {
  return isHeadOfChain(heap, node) || [node, deepestHolder(heap, node)].some((at) => holdsEvents(heap, at));
}

function holdsEvents(heap: Heap, holder: number): boolean {
  const { others, step } = referredTo(heap, holder);
  const samples = sampleOf(others);
  if (!samples.length) return false;
  const events = samples.filter((entry) => isOfEvent(heap, entry)).length;
  if (events >= samples.length * most) return true;
  if (others.length * step < fewestCallbacks) return false;
  return samples.filter((entry) => isCallback(heap, entry)).length >= samples.length * most;
}

/** It is, or one of its fields leads to, something that exists because something happened. */
function isOfEvent(heap: Heap, entry: number): boolean {
  const isOne = (node: number): boolean =>
    heap.snapshot.nodes.type[node] === NodeType.object &&
    (isLive(heap, node) || eventClasses.test(heap.className(node)));
  return isOne(entry) || fieldsOf(heap, entry).some(isOne);
}

/** A function that was made for it: an own one, whose scope has a value that belongs to it. */
function isCallback(heap: Heap, entry: number): boolean {
  const { type } = heap.snapshot.nodes;
  return (
    type[entry] === NodeType.closure || fieldsOf(heap, entry).some((node) => type[node] === NodeType.closure)
  );
}

/** What its own fields lead to, and nothing else does in the dominator tree. */
function fieldsOf({ snapshot, tree }: Heap, entry: number): number[] {
  const { firstEdge } = snapshot.nodes;
  const fields: number[] = [];
  for (let edge = firstEdge[entry]!; edge < firstEdge[entry + 1]!; edge++) {
    const target = snapshot.edgeTarget(edge);
    if (snapshot.edgeType(edge) === EdgeType.property && tree.dominator[target] === entry)
      fields.push(target);
  }
  return fields;
}
