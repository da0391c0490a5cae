/**
 * Opens two or more heaps one after the other and compares them: only one graph is in memory at a time. The places of the first
 * one need its distances and its index of references, half the time of its graph, and nobody asks for them if the last one is of
 * the same process; so they are computed when the last one turns out to be of another, for which both are opened again.
 */
import { collectNow } from '../../../platform/pending-collection.ts';
import type { Heap } from '../heap.ts';
import { computeDigest, computeGrowth, type Growth, type HeapDigest, lacksPlaces } from './growth.ts';
import { computePlaces } from './growth-places.ts';

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
