/**
 * The dominator tree as an account keeps it: by class, a few levels deep, what is small added up. Its rows' bytes are
 * the heap's. For a picture and a first look; `agentdump heap export` has the whole.
 */
import type { RetainedFrame } from '../../../model/account.ts';
import type { Heap } from '../heap.ts';
import { computeFlame, type FlameFrame } from '../questions/flame.ts';

/** Below this share of the heap, siblings are one row. */
const leastShare = 1 / 500;
const maxDepth = 8;
const rest = '(smaller ones)';

export function computeRetainedTree(heap: Heap): RetainedFrame[] {
  const frames = computeFlame(heap, { least: leastShare, maxDepth });
  const totals = totalsOf(frames);
  const least = totals[0]! * leastShare;
  const kept: RetainedFrame[] = [];
  /** Row of each frame; of a small one, the row that it is added to. */
  const places: number[] = [];
  /** By the row above. */
  const rests = new Map<number, number>();
  const isRest = new Set<number>();
  const add = (place: number, { bytes, count }: FlameFrame): number => {
    kept[place]!.bytes += bytes;
    kept[place]!.count += count;
    return place;
  };
  const make = (name: string, above: number, { bytes, count }: FlameFrame): number =>
    kept.push({ name, parent: above, bytes, count }) - 1;
  for (const [n, frame] of frames.entries()) {
    const above = frame.parent < 0 ? -1 : places[frame.parent]!;
    const smaller = isRest.has(above) ? above : rests.get(above);
    if (totals[n]! >= least) places[n] = make(frame.name, above, frame);
    else if (smaller !== undefined) places[n] = add(smaller, frame);
    else {
      places[n] = make(rest, above, frame);
      rests.set(above, places[n]);
      isRest.add(places[n]);
    }
  }
  return kept;
}

/** Bytes of each frame with all below it; a parent stands before its children. */
function totalsOf(frames: readonly FlameFrame[]): number[] {
  const totals = frames.map(({ bytes }) => bytes);
  for (let n = frames.length - 1; n > 0; n--) totals[frames[n]!.parent]! += totals[n]!;
  return totals;
}
