/** Samples of memory as lines of a chart: at most as many points as there are pixels, keeping the peaks. Pure. */
import type { MemorySample } from '../../../model/account.ts';

export interface Point {
  atMs: number;
  bytes: number;
}

export interface Series {
  key: keyof Omit<MemorySample, 'at'>;
  name: string;
  points: Point[];
}

const names: readonly [Series['key'], string][] = [
  ['cgroupBytes', 'container'],
  ['rssBytes', 'resident'],
  ['heapUsedBytes', 'heap used'],
  ['externalBytes', 'outside the heap'],
];

export function seriesOf(samples: readonly MemorySample[], mostPoints: number): Series[] {
  return names.flatMap(([key, name]) => {
    const points = samples.flatMap((sample) => {
      const bytes = sample[key];
      const atMs = Date.parse(sample.at);
      return bytes === undefined || Number.isNaN(atMs) ? [] : [{ atMs, bytes }];
    });
    points.sort((a, b) => a.atMs - b.atMs);
    return points.length > 1 ? [{ key, name, points: thin(points, mostPoints) }] : [];
  });
}

/** Without the container's line, if it is so much higher that the process's line would be flat. */
export function withoutOverwhelming(series: readonly Series[]): Series[] {
  const peakOf = (wanted: Series['key']) =>
    series.find(({ key }) => key === wanted)?.points.reduce((most, { bytes }) => Math.max(most, bytes), 0);
  const resident = peakOf('rssBytes');
  const isTooMuch = resident !== undefined && (peakOf('cgroupBytes') ?? 0) > 2.5 * resident;
  return series.filter(({ key }) => !(isTooMuch && key === 'cgroupBytes'));
}

/** The highest point of each interval, and the very last point. */
function thin(points: readonly Point[], most: number): Point[] {
  if (points.length <= most) return [...points];
  const size = points.length / most;
  const kept = Array.from({ length: most }, (_, n) => {
    let highest = points[Math.floor(n * size)]!;
    for (let i = Math.floor(n * size); i < Math.floor((n + 1) * size); i++)
      if (points[i]!.bytes > highest.bytes) highest = points[i]!;
    return highest;
  });
  const last = points.at(-1)!;
  if (kept.at(-1) !== last) kept.push(last);
  return kept;
}

/** The point that is nearest in time; points are sorted by time. */
export function nearest(points: readonly Point[], atMs: number): Point | undefined {
  let best = points[0];
  for (const point of points)
    if (best && Math.abs(point.atMs - atMs) < Math.abs(best.atMs - atMs)) best = point;
  return best;
}
