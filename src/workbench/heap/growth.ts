/** What grew over two or more snapshots. Only one heap is in memory at a time; of the earlier ones only digests are kept. */
import { computeDigest, computeGrowth, type HeapDigest } from '../../analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../analysis/memory/growth/growth-suspects.ts';
import type { Gap } from '../../model/verdict.ts';
import type { Progress } from '../protocol.ts';
import { type HeapPlace, openSnapshot } from './open-session.ts';
import type { GrowthView } from './questions.ts';

const mostClasses = 300;
const mostGrown = 50;
const mostSuspects = 10;

export async function growthBetween(
  places: readonly HeapPlace[],
  say: (progress: Progress) => void,
): Promise<GrowthView> {
  const sayOf =
    (name: string) =>
    ({ text, share }: Progress): void =>
      say({ text: `${name}: ${text}`, ...(share !== undefined && { share }) });
  const after = places.at(-1)!;
  const digests: HeapDigest[] = [];
  const gaps: Gap[] = [];
  for (const place of places.slice(0, -1)) {
    const earlier = await openSnapshot(place, sayOf(place.name));
    digests.push(computeDigest(earlier.heap, digests.length === 0));
    gaps.push(...earlier.gaps);
    earlier.close();
  }
  const last = await openSnapshot(after, sayOf(after.name));
  say({ text: 'comparing' });
  const growth = computeGrowth([...digests, computeDigest(last.heap)], last.heap, mostGrown);
  last.close();
  return {
    snapshots: growth.snapshots,
    matchedBy: growth.matchedBy,
    classes: growth.classes.slice(0, mostClasses),
    classCount: growth.classes.length,
    grown: growth.grown,
    suspects: growthSuspects(growth, mostSuspects),
    gaps: [...gaps, ...last.gaps],
  };
}
