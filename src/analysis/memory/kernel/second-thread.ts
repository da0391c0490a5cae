/**
 * What doesn't need the dominators (distances, classes, whose size is counted with whom) computed on a second thread, while the
 * first computes them. Both look at the same columns. The sizes themselves wait: where they are to be is in use until then.
 */
import { type HeapSnapshot, shareSnapshot, startThread } from '../../../formats/heapsnapshot/index.ts';
import type { ClassTable } from '../questions/classes.ts';

/** Below, the thread's start and the second look at the strings cost more than they save. */
const leastNodes = 400_000;

export interface Facets {
  distances: Int32Array;
  classes: ClassTable;
  /** Undefined where sizes are meant as they are. */
  ownerOfPart: Uint32Array | undefined;
}

export type FacetName = keyof Facets;
/** In the order in which they need the least memory. */
export const allFacets: readonly FacetName[] = ['classes', 'ownerOfPart', 'distances'];

/** Starts at once; undefined where it would not pay or can't be shared. Resolves to undefined when it failed. */
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
    // The first thread computes them itself then, and says what is wrong if something is.
    worker.once('error', () => resolve(undefined));
    worker.once('exit', () => resolve(undefined));
  });
}
