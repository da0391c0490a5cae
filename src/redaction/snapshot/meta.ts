/**
 * Reads from the head of a V8 heap snapshot which column of a node and of an edge is an index into the list of strings, and
 * for which types that string is a name. Source: V8's HeapSnapshotJSONSerializer and its `snapshot.meta`.
 */
import { MalformedInput } from '../../errors.ts';

export interface RecordColumns {
  /** Numbers per record. */
  width: number;
  typeColumn: number;
  /** Contains a string's index, or for some types a plain number. */
  nameColumn: number;
  /** By type number: 1 if the string is a name, 0 if it is a value or not a string. */
  isName: Uint8Array;
  /** The column of a node's id; -1 for edges. */
  idColumn: number;
}

export interface SnapshotColumns {
  nodes: RecordColumns;
  edges: RecordColumns;
}

/** Nodes with their content as their name. */
const valueTypes = new Set(['string', 'concatenated string', 'sliced string', 'bigint', 'regexp']);
/** Edges with a number instead of a name. */
const numberedEdges = new Set(['element', 'hidden']);

/** `head` is the file's text before the list of nodes. Throws MalformedInput for unknown or missing metadata. */
export function readSnapshotColumns(head: string): SnapshotColumns {
  const meta = parseMeta(head);
  return {
    nodes: readColumns(meta, 'node', 'name', (type) => !valueTypes.has(type)),
    edges: readColumns(meta, 'edge', 'name_or_index', (type) => !numberedEdges.has(type)),
  };
}

function parseMeta(head: string): Record<string, unknown> {
  try {
    const { snapshot } = JSON.parse(`${head.trimEnd().replace(/,$/, '')}}`);
    if (snapshot.meta && typeof snapshot.meta === 'object') return snapshot.meta;
  } catch {
    // Throws below.
  }
  throw new MalformedInput('The heap snapshot does not start with its meta data.', {
    format: 'heapsnapshot',
    field: 'snapshot.meta',
    offset: 0,
  });
}

function readColumns(
  meta: Record<string, unknown>,
  kind: 'node' | 'edge',
  nameField: string,
  namesType: (type: string) => boolean,
): RecordColumns {
  const fields = meta[`${kind}_fields`];
  const types = (meta[`${kind}_types`] as unknown[] | undefined)?.[0];
  const width = Array.isArray(fields) ? fields.length : 0;
  const typeColumn = Array.isArray(fields) ? fields.indexOf('type') : -1;
  const nameColumn = Array.isArray(fields) ? fields.indexOf(nameField) : -1;
  if (typeColumn < 0 || nameColumn <= typeColumn || !Array.isArray(types))
    throw new MalformedInput(`The heap snapshot has no ${kind} fields that are known.`, {
      format: 'heapsnapshot',
      field: `snapshot.meta.${kind}_fields`,
      wanted: `type, ${nameField}`,
    });
  return {
    width,
    typeColumn,
    nameColumn,
    idColumn: kind === 'node' && Array.isArray(fields) ? fields.indexOf('id') : -1,
    isName: Uint8Array.from(types, (type) => (namesType(type) ? 1 : 0)),
  };
}
