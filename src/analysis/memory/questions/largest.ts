/** Selects the largest of many numbers without sorting all of them. */

/** Rows of the `limit` largest values for which `wanted` holds, largest first. */
export function largestRows(
  values: Float64Array | Uint32Array,
  limit: number,
  wanted: (row: number) => boolean,
): number[] {
  let threshold = Number.NEGATIVE_INFINITY;
  let found: number[] = [];
  const trim = (): void => {
    found = found.sort((a, b) => values[b]! - values[a]! || a - b).slice(0, limit);
    if (found.length === limit) threshold = values[found[limit - 1]!]!;
  };
  for (let row = 0; row < values.length; row++) {
    if (values[row]! < threshold || !wanted(row)) continue;
    found.push(row);
    if (found.length >= 4 * limit + 64) trim();
  }
  trim();
  return found;
}
