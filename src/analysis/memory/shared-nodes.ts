/** Which nodes more than one edge leads to, of whatever kind: much cheaper than to know which edges those are. */
import { edgeTargetMask, type HeapSnapshot } from '../../formats/heapsnapshot/index.ts';
import { GraphKernel } from './graph-kernel.ts';

const known = new WeakMap<HeapSnapshot, Uint8Array>();

/** A bit by ordinal: small enough that the whole of it stays in the cache. */
export function findShared(snapshot: HeapSnapshot): Uint8Array {
  const found = known.get(snapshot) ?? find(snapshot);
  known.set(snapshot, found);
  return found;
}

function find(snapshot: HeapSnapshot): Uint8Array {
  const { packed, count } = snapshot.edges;
  const bytes = (snapshot.nodes.count >>> 3) + 1;
  const kernel = GraphKernel.of(snapshot);
  if (kernel) return kernel.bytes('shared', bytes);
  const seen = new Uint8Array(bytes);
  const isShared = new Uint8Array(bytes);
  for (let edge = 0; edge < count; edge++) {
    const target = packed[edge]! & edgeTargetMask;
    const bit = 1 << (target & 7);
    const before = seen[target >>> 3]!;
    if (before & bit) isShared[target >>> 3]! |= bit;
    else seen[target >>> 3] = before | bit;
  }
  return isShared;
}
