/**
 * Entries of WeakMaps. V8 writes each as two internal edges to the value, one from the table and one from the key, both named
 * `<n> / part of key (<name> @<id>) -> value (<name> @<id>) pair in WeakMap (table @<id>)`. The value is alive as long as
 * both are, so DevTools counts only the key's edge for dominators, and uses the later of the two for distances. Finds these
 * edges and marks them in the edge column (EdgeType.ephemeron), once per snapshot.
 */
import { EdgeType, edgeTypeShift, type HeapSnapshot } from '../../../formats/heapsnapshot/index.ts';

const nameParts =
  /^\d+( \/ part of key \(.*? @(\d+)\) -> value \(.*? @\d+\) pair in WeakMap \(table @(\d+)\))$/;

export interface Ephemerons {
  /** By index of the edge's name: id of the table. */
  tableId: Map<number, number>;
  /** By index of the edge's name: number of the entry, the same for its two edges. */
  entry: Map<number, number>;
}

const known = new WeakMap<HeapSnapshot, Ephemerons>();

/** Marks the edges on the first call; further calls return the same result. */
export function markEphemerons(snapshot: HeapSnapshot): Ephemerons {
  const found = known.get(snapshot) ?? mark(snapshot);
  known.set(snapshot, found);
  return found;
}

function mark(snapshot: HeapSnapshot): Ephemerons {
  const ephemerons: Ephemerons = { tableId: new Map(), entry: new Map() };
  const ends = new Set<number>();
  const entries = new Map<string, number>();
  for (const name of snapshot.strings.ephemeronNames) {
    const match = nameParts.exec(snapshot.strings.get(name));
    if (!match) continue;
    const [, pair = '', key, table] = match;
    ends.add(Number(key)).add(Number(table));
    ephemerons.tableId.set(name, Number(table));
    if (!entries.has(pair)) entries.set(pair, entries.size);
    ephemerons.entry.set(name, entries.get(pair)!);
  }
  if (ends.size) markEdgesOf(snapshot, ends, ephemerons);
  return ephemerons;
}

/** Only the edges of keys and tables are checked. */
function markEdgesOf(snapshot: HeapSnapshot, ids: Set<number>, ephemerons: Ephemerons): void {
  const { id, count, firstEdge } = snapshot.nodes;
  const { packed, nameOrIndex } = snapshot.edges;
  for (const node of id.rowsOf(ids, count))
    for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++) {
      if (packed[edge]! >>> edgeTypeShift !== EdgeType.internal) continue;
      if (ephemerons.tableId.has(nameOrIndex.get(edge))) packed[edge]! |= EdgeType.ephemeron << edgeTypeShift;
    }
}
