/** What grew over two or more snapshots. */
import { compareHeaps } from '../../analysis/memory/growth/compare-heaps.ts';
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
  const gaps: Gap[] = [];
  const growth = await compareHeaps({
    count: places.length,
    limit: mostGrown,
    opensAgain: true,
    async open(at, isAgain) {
      const place = places[at]!;
      const opened = await openSnapshot(place, sayOf(place.name));
      if (!isAgain) gaps.push(...opened.gaps);
      if (at === places.length - 1) say({ text: 'comparing' });
      return opened;
    },
  });
  return {
    snapshots: growth.snapshots,
    matchedBy: growth.matchedBy,
    classes: growth.classes.slice(0, mostClasses),
    classCount: growth.classes.length,
    grown: growth.grown,
    suspects: growthSuspects(growth, mostSuspects),
    gaps,
  };
}
