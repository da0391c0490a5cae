/** Which nodes more than one edge leads to, of whatever kind: much cheaper than to know which edges those are. */
import { edgeTargetMask, type HeapSnapshot } from '../../formats/heapsnapshot/index.ts';

/** A bit by ordinal: small enough that the whole of it stays in the cache. */
export function findShared(snapshot: HeapSnapshot): Uint8Array {
  const { packed, count } = snapshot.edges;
  const bytes = (snapshot.nodes.count >>> 3) + 1;
  const seen = new Uint8Array(bytes);
  const isShared = new Uint8Array(bytes);
  for (let edge = 0; edge < count; edge++) {
    const target = packed[edge]! & edgeTargetMask;
    const bit = 1 << (target & 7);
    const known = seen[target >>> 3]!;
    if (known & bit) isShared[target >>> 3]! |= bit;
    else seen[target >>> 3] = known | bit;
  }
  return isShared;
}
