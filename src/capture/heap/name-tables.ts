/**
 * How many distinct places V8 numbers in a heap's tables. It keeps a name of 1 KB for each number, whichever table it is of: so
 * the same places of two tables cost once. The entries of a hash table lie here and there in its span, those of an array
 * one after the other.
 */
export interface NumberedTable {
  /** Words from the first place to the last. */
  span: number;
  /** Of these, those that hold something with a node of its own. */
  filled: number;
}

const mostTables = 64;

/** As if each table's places were drawn by chance, which those of hash tables are. */
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
