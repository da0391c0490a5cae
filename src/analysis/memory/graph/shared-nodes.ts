/** Nodes with more than one incoming edge of any type, computed once per snapshot; for small snapshots by the kernel. */
import type { HeapSnapshot } from '../../../formats/heapsnapshot/index.ts';
import { GraphKernel } from '../kernel/graph-kernel.ts';

const known = new WeakMap<HeapSnapshot, Uint8Array>();

/** One bit per ordinal. */
export function findShared(snapshot: HeapSnapshot): Uint8Array {
  const found = known.get(snapshot) ?? find(snapshot);
  known.set(snapshot, found);
  return found;
}

function find(snapshot: HeapSnapshot): Uint8Array {
  const kernel = GraphKernel.of(snapshot);
  return kernel ? kernel.bytes('shared', (snapshot.nodes.count >>> 3) + 1) : snapshot.sharedTargets;
}
