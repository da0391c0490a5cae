/** When something is due, as hosts may say it and as every store can keep it. */

/** The last time that a Date can hold. */
export const latestMs = 8.64e15;

/** Undefined: at once, also for what is no time. */
export function dueTimeOf(dueAtMs: number | 'never' | undefined): number | 'never' | undefined {
  if (dueAtMs === 'never') return dueAtMs;
  if (dueAtMs === undefined || Number.isNaN(dueAtMs)) return undefined;
  return dueAtMs > latestMs ? 'never' : dueAtMs;
}
