/**
 * The dominator tree as stored in an account: by class, a few levels deep, with small parts summed up. The bytes of all rows
 * add up to the heap. For a picture and a first look; `agentdump heap export` writes the whole tree.
 */
import type { RetainedFrame } from '../../../model/account.ts';
import type { Heap } from '../heap.ts';
import { computeFlame, type FlameFrame } from '../questions/flame.ts';

/** Siblings below this share of the heap are merged into one row. */
const leastShare = 1 / 500;
const maxDepth = 8;
const rest = '(smaller ones)';

export function computeRetainedTree(heap: Heap): RetainedFrame[] {
  const frames = computeFlame(heap, { least: leastShare, maxDepth });
  const totals = totalsOf(frames);
  const least = totals[0]! * leastShare;
  const kept: RetainedFrame[] = [];
  /** Row of each frame; for a small frame, the row that it was added to. */
  const places: number[] = [];
  /** Row of the merged siblings, by parent row. */
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

/** Bytes of each frame including its descendants; parents come before their children. */
function totalsOf(frames: readonly FlameFrame[]): number[] {
  const totals = frames.map(({ bytes }) => bytes);
  for (let n = frames.length - 1; n > 0; n--) totals[frames[n]!.parent]! += totals[n]!;
  return totals;
}
