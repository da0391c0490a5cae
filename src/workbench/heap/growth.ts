/** What grew between two snapshots. One heap at a time is in memory; of the earlier one only its digest stays. */
import { computeDigest, computeGrowth } from '../../analysis/memory/growth/growth.ts';
import { growthSuspects } from '../../analysis/memory/growth/growth-suspects.ts';
import type { Progress } from '../protocol.ts';
import { type HeapPlace, openSnapshot } from './open-session.ts';
import type { GrowthView } from './questions.ts';

const mostClasses = 300;
const mostGrown = 50;
const mostSuspects = 10;

export async function growthBetween(
  [before, after]: readonly [HeapPlace, HeapPlace],
  say: (progress: Progress) => void,
): Promise<GrowthView> {
  const sayOf =
    (name: string) =>
    ({ text, share }: Progress): void =>
      say({ text: `${name}: ${text}`, ...(share !== undefined && { share }) });
  const first = await openSnapshot(before, sayOf(before.name));
  const digest = computeDigest(first.heap, true);
  first.close();
  const last = await openSnapshot(after, sayOf(after.name));
  say({ text: 'comparing' });
  const growth = computeGrowth([digest, computeDigest(last.heap)], last.heap, mostGrown);
  last.close();
  return {
    snapshots: growth.snapshots,
    matchedBy: growth.matchedBy,
    classes: growth.classes.slice(0, mostClasses),
    classCount: growth.classes.length,
    grown: growth.grown,
    suspects: growthSuspects(growth, mostSuspects),
    gaps: [...first.gaps, ...last.gaps],
  };
}
