/**
 * Whether a series of measured values grows: the median of all pairwise slopes (Theil 1950, Sen 1968) and its 95 % interval
 * by the ranks of those slopes (Sen's, without correction for ties). A single outlier moves neither.
 */

export interface Trend {
  /** Units of the value per hour. */
  slope: number;
  low: number;
  high: number;
  first: number;
  last: number;
}

const z95 = 1.96;
const edgeShare = 10;

/** Times in milliseconds, ascending; at least three points. */
export function computeTrend(points: readonly { atMs: number; value: number }[]): Trend {
  const slopes: number[] = [];
  for (const [i, a] of points.entries())
    for (const b of points.slice(i + 1)) slopes.push(((b.value - a.value) / (b.atMs - a.atMs)) * 3_600_000);
  slopes.sort((a, b) => a - b);
  const n = points.length;
  const spread = z95 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const at = (rank: number): number =>
    slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(rank)))] ?? Number.NaN;
  const values = points.map(({ value }) => value);
  const edge = Math.max(1, Math.floor(n / edgeShare));
  return {
    slope: median(slopes),
    low: at((slopes.length - spread) / 2),
    high: at((slopes.length + spread) / 2),
    first: median(values.slice(0, edge)),
    last: median(values.slice(-edge)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** The 95 % interval of the median, by the binomial ranks in their normal approximation. */
export function medianInterval(values: readonly number[]): [number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const reach = (z95 * Math.sqrt(sorted.length)) / 2;
  const low = Math.max(0, Math.floor(sorted.length / 2 - reach));
  const high = Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + reach));
  return [sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN];
}
