/** Ticks of an axis at round numbers. Pure. */

const roundSteps = [1, 2, 5];

/** About `wanted` ticks at most, at round steps of time counted back from the end, in milliseconds, starting with 0. */
export function timeTicks(spanMs: number, wanted: number): number[] {
  if (!(spanMs > 0)) return [0];
  const step = timeSteps.find((candidate) => spanMs / candidate <= wanted) ?? roundStep(spanMs / wanted);
  return Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, n) => n * step);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const timeSteps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 4, 6, 12, 24, 48, 96, 168].map((n) => n * hour),
];

/** From 0 to at least `most`, in binary units. */
export function byteTicks(most: number, wanted: number): number[] {
  if (!(most > 0)) return [0];
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(most / wanted) / Math.log(1024)));
  const step = roundStep(most / unit / wanted) * unit;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}

/** The smallest of 1, 2, 5, 10, 20 … that is at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (roundSteps.find((n) => n * power >= least * 0.999) ?? 10);
}
