/**
 * Computes what doesn't need the dominators (distances, classes, owners of internal parts) on a second thread, in parallel to
 * the dominators. Both threads read the same columns. The sizes themselves are computed afterwards, because their memory is
 * still in use.
 */
import { type HeapSnapshot, shareSnapshot, startThread } from '../../../formats/heapsnapshot/index.ts';
import type { ClassTable } from '../questions/classes.ts';

/** Below this, starting the thread and scanning the strings again costs more than it saves. */
const leastNodes = 400_000;

export interface Facets {
  distances: Int32Array;
  classes: ClassTable;
  /** Undefined if sizes are not moved to owners. */
  ownerOfPart: Uint32Array | undefined;
}

export type FacetName = keyof Facets;
/** In the order that needs the least memory. */
export const allFacets: readonly FacetName[] = ['classes', 'ownerOfPart', 'distances'];

/**
 * Starts immediately; undefined if it wouldn't be faster or the snapshot can't be shared. Resolves to undefined on failure.
 */
export function startFacets(
  snapshot: HeapSnapshot,
  wanted: readonly FacetName[],
): Promise<Partial<Facets> | undefined> | undefined {
  const shared = snapshot.nodes.count >= leastNodes ? shareSnapshot(snapshot) : undefined;
  if (!shared) return undefined;
  const worker = startThread('analysis/memory/kernel/second-thread-worker', { shared, wanted });
  worker.ref();
  return new Promise((resolve) => {
    worker.once('message', resolve);
    // The first thread then computes them itself, and reports any error.
    worker.once('error', () => resolve(undefined));
    worker.once('exit', () => resolve(undefined));
  });
}
