/** Normalizes a due time from the host to a value that every store can hold. */

/** The latest time that a Date can hold. */
export const latestMs = 8.64e15;

/** Undefined: at once. Also for an invalid time. */
export function dueTimeOf(dueAtMs: number | 'never' | undefined): number | 'never' | undefined {
  if (dueAtMs === 'never') return dueAtMs;
  if (dueAtMs === undefined || Number.isNaN(dueAtMs)) return undefined;
  return dueAtMs > latestMs ? 'never' : dueAtMs;
}
