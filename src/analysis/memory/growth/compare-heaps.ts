/**
 * Opens two or more heaps one after the other and compares them: only one graph is in memory at a time. The places of the first
 * one need its distances and its index of references, half the time of its graph, and nobody asks for them if the last one is of
 * the same process; so they are computed when the last one turns out to be of another, for which both are opened again.
 */
import { collectNow } from '../../../platform/pending-collection.ts';
import type { Heap } from '../heap.ts';
import { computeDigest, computeGrowth, type Growth, type HeapDigest } from './growth.ts';
import { computePlaces } from './growth-places.ts';
import { areOfOneProcess } from './one-process.ts';
import { rowsById } from './rows-by-id.ts';

export interface OpenedToCompare {
  heap: Heap;
  /** Runs a computation on it. */
  compute?<Result>(work: () => Result): Result;
  close(): void;
}

export interface ToCompare {
  count: number;
  limit: number;
  /** @param isAgain the same heap is opened a second time. */
  open(at: number, isAgain: boolean): Promise<OpenedToCompare>;
  /** False if a heap can't be opened a second time: a living process is another heap by then. */
  opensAgain: boolean;
}

export async function compareHeaps({ count, limit, open, opensAgain }: ToCompare): Promise<Growth> {
  const digests: HeapDigest[] = [];
  const use = async <Result>(at: number, work: (heap: Heap) => Result, isAgain = false): Promise<Result> => {
    // V8 would only free the columns of the one before while the next one is read.
    if (at > 0 || isAgain) collectNow();
    const { heap, compute, close } = await open(at, isAgain);
    try {
      return compute ? compute(() => work(heap)) : work(heap);
    } finally {
      close();
    }
  };
  const end = (heap: Heap): Growth => computeGrowth([...digests, computeDigest(heap)], heap, limit);
  for (let at = 0; at < count - 1; at++)
    digests.push(await use(at, (heap) => computeDigest(heap, at === 0, at === 0 && !opensAgain)));
  const growth = await use(count - 1, (heap) => (lacksPlaces(digests, heap) ? undefined : end(heap)));
  if (growth) return growth;
  digests[0]!.places = await use(0, computePlaces, true);
  return use(count - 1, end, true);
}

/** Whether they can only be compared by places, which the first digest does not have. */
function lacksPlaces([first, ...others]: readonly HeapDigest[], { snapshot }: Heap): boolean {
  if (!first || first.places) return false;
  if (!snapshot.header.hasLastingIds || others.some(({ hasLastingIds }) => !hasLastingIds)) return true;
  const { ids, rows } = rowsById(snapshot);
  let common = 0;
  let otherType = 0;
  for (let a = 0, b = 0; a < first.ids.length && b < ids.length; ) {
    const before = first.ids[a]!;
    const after = ids[b]!;
    if (before === after) {
      common++;
      if (first.types[a] !== snapshot.nodes.type[rows[b]!]) otherType++;
    }
    if (before <= after) a++;
    if (after <= before) b++;
  }
  return !areOfOneProcess(common, first.ids.length, otherType);
}
