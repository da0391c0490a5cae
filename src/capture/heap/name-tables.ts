/**
 * Counts the distinct places that V8 numbers in a heap's tables. V8 keeps a name of 1 KB for each number, whichever table it
 * belongs to, so the same places in two tables cost once. The entries of a hash table are scattered over its span, those of
 * an array are contiguous.
 */
export interface NumberedTable {
  /** Words from the first place to the last. */
  span: number;
  /** How many of them hold something that has a node of its own. */
  filled: number;
}

const mostTables = 64;

/** Assumes that the filled places of each table are random, as they are in hash tables. */
export function countPlaces(tables: readonly NumberedTable[]): number {
  const largest = [...tables].sort((a, b) => b.span - a.span).slice(0, mostTables);
  let places = 0;
  largest.forEach(({ span }, at) => {
    const empty = largest.slice(0, at + 1).reduce((rest, table) => rest * (1 - shareOf(table)), 1);
    places += (span - (largest[at + 1]?.span ?? 0)) * (1 - empty);
  });
  return Math.round(places);
}

const shareOf = ({ span, filled }: NumberedTable): number => (span > 0 ? Math.min(1, filled / span) : 0);
