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
const mostReferrers = 16;
const eventClasses = /^(?:IncomingMessage|ServerResponse|ClientRequest|AbortController|AbortSignal|WeakRef)$/;

export function showsGrowth(heap: Heap, node: number): boolean {
  return isHeadOfChain(heap, node) || [node, deepestHolder(heap, node)].some((at) => holdsEvents(heap, at));
}

function holdsEvents(heap: Heap, holder: number): boolean {
  const { others, step } = referredTo(heap, holder);
  const samples = sampleOf(others);
  if (hasOneEach(heap, samples, isOfEvent)) return true;
  return others.length * step >= fewestCallbacks && hasOneEach(heap, samples, isCallback);
}

/** Whether most of them are one of these, or have one as a field, or are a field of one. What they share, such as a parent, is none of theirs. */
function hasOneEach(
  heap: Heap,
  samples: readonly number[],
  isOne: (heap: Heap, node: number) => boolean,
): boolean {
  const found = new Set<number>();
  for (const entry of samples) {
    const near = [entry, ...fieldsOf(heap, entry), ...referrersOf(heap, entry)];
    const one = near.find((node) => isOne(heap, node));
    if (one !== undefined) found.add(one);
  }
  return samples.length > 0 && found.size >= samples.length * most;
}

/** It exists because something happened. */
function isOfEvent(heap: Heap, node: number): boolean {
  if (heap.snapshot.nodes.type[node] !== NodeType.object) return false;
  return isLive(heap, node) || eventClasses.test(heap.className(node));
}

const isCallback = ({ snapshot }: Heap, node: number): boolean =>
  snapshot.nodes.type[node] === NodeType.closure;

function fieldsOf({ snapshot }: Heap, entry: number): number[] {
  const { firstEdge } = snapshot.nodes;
  const fields: number[] = [];
  for (let edge = firstEdge[entry]!; edge < firstEdge[entry + 1]!; edge++)
    if (snapshot.edgeType(edge) === EdgeType.property) fields.push(snapshot.edgeTarget(edge));
  return fields;
}

/** A timer or a socket may hold it as well as the container. */
function referrersOf({ snapshot, retainers }: Heap, entry: number): number[] {
  return [...retainers.to(entry).subarray(0, mostReferrers)]
    .filter((edge) => snapshot.edgeType(edge) === EdgeType.property)
    .map((edge) => retainers.sourceOf(edge));
}
