/** Which nodes more than one edge leads to, of whatever kind, once a snapshot: small ones have it in their kernel. */
import type { HeapSnapshot } from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';

const known = new WeakMap<HeapSnapshot, Uint8Array>();

/** A bit by ordinal. */
export function findShared(snapshot: HeapSnapshot): Uint8Array {
  const found = known.get(snapshot) ?? find(snapshot);
  known.set(snapshot, found);
  return found;
}

function find(snapshot: HeapSnapshot): Uint8Array {
  const kernel = GraphKernel.of(snapshot);
  return kernel ? kernel.bytes('shared', (snapshot.nodes.count >>> 3) + 1) : snapshot.sharedTargets;
}
