/**
 * Parses the `snapshot` object at the start of a heap snapshot: field positions in records, the meaning of type numbers, and
 * the number of records. Independent of the records themselves.
 */
import { AgentdumpError, MalformedInput } from '../../../errors.ts';
import {
  EdgeType,
  edgeTypeNames,
  formatName,
  maxNodes,
  nodeTypeNames,
  requiredEdgeFields,
  requiredLocationFields,
  requiredNodeFields,
} from '../layout.ts';

/** Maximum number of fields per record; V8 has at most 7. */
const maxFields = 32;
/** A node type is stored in one byte. */
const maxNodeTypes = 255;

export interface RecordLayout {
  fieldCount: number;
  /** Position of each field, by V8's name. */
  position: ReadonlyMap<string, number>;
}

export interface SnapshotHeader {
  node: RecordLayout;
  edge: RecordLayout;
  /** Absent if the file has no locations. */
  location: RecordLayout | undefined;
  /** By our node code: the name of the type. First V8's types in the order of layout.ts, then unknown ones. */
  nodeTypeNames: readonly string[];
  /** Maps the file's number of a node type to our code. */
  nodeTypeCodes: Uint8Array;
  /** Maps the file's number of an edge type to our code. */
  edgeTypeCodes: Uint8Array;
  nodeCount: number;
  edgeCount: number;
  /** Ordinal of the root node. */
  rootOrdinal: number;
  /** Native memory in bytes that V8 counts outside of all nodes; 0 before Node 24. */
  extraNativeBytes: number;
  /**
   * Whether an object has the same id in other snapshots of its process. True for V8's snapshots; a heap read from a core
   * states that its ids don't last.
   */
  hasLastingIds: boolean;
  traceFunctionCount: number;
  /** Field names of a row of trace_function_infos. */
  traceFunctionFields: readonly string[];
  /** The object as in the file. */
  raw: Record<string, unknown>;
}

/** `raw`: the parsed `snapshot` object. */
export function readHeader(raw: unknown): SnapshotHeader {
  if (!isRecord(raw) || !isRecord(raw['meta'])) throw malformed('snapshot.meta', 'an object');
  const meta = raw['meta'];
  const node = readLayout(meta, 'node_fields', requiredNodeFields);
  const edge = readLayout(meta, 'edge_fields', requiredEdgeFields);
  const location = Array.isArray(meta['location_fields'])
    ? readLayout(meta, 'location_fields', requiredLocationFields)
    : undefined;
  const nodeTypes = readTypes(meta, 'node_types', node.position.get('type')!);
  const edgeTypes = readTypes(meta, 'edge_types', edge.position.get('type')!);
  const nodeCount = readCount(raw, 'node_count');
  if (nodeCount > maxNodes)
    throw new AgentdumpError(
      'over-limit',
      `the snapshot claims ${nodeCount} nodes, ${maxNodes} is the most`,
      {
        limit: 'nodes',
        wanted: nodeCount,
        allowed: maxNodes,
      },
    );
  if (nodeCount === 0) throw malformed('snapshot.node_count', 'at least one node');
  const rootIndex = optionalCount(raw, 'root_index');
  if (rootIndex % node.fieldCount !== 0 || rootIndex / node.fieldCount >= nodeCount)
    throw malformed('snapshot.root_index', 'the index of a node');
  const names = allNodeTypeNames(nodeTypes);
  return {
    node,
    edge,
    location,
    nodeTypeNames: names,
    nodeTypeCodes: Uint8Array.from(nodeTypes, (name) => names.indexOf(name)),
    edgeTypeCodes: Uint8Array.from(edgeTypes, edgeCode),
    nodeCount,
    edgeCount: readCount(raw, 'edge_count'),
    rootOrdinal: rootIndex / node.fieldCount,
    extraNativeBytes: optionalCount(raw, 'extra_native_bytes'),
    hasLastingIds: raw['lasting_ids'] !== false,
    traceFunctionCount: optionalCount(raw, 'trace_function_count'),
    traceFunctionFields: namesOf(meta['trace_function_info_fields']),
    raw,
  };
}

function allNodeTypeNames(fileTypes: string[]): string[] {
  const known = new Set<string>(nodeTypeNames);
  return [...nodeTypeNames, ...fileTypes.filter((name) => !known.has(name))];
}

/** An unknown type is an ordinary strong edge with a string as its name, as in DevTools. */
function edgeCode(name: string): number {
  const code = (edgeTypeNames as readonly string[]).indexOf(name);
  return code < 0 ? EdgeType.internal : code;
}

function readLayout(meta: Record<string, unknown>, key: string, required: readonly string[]): RecordLayout {
  const fields = meta[key];
  if (!isStringArray(fields) || fields.length > maxFields)
    throw malformed(`meta.${key}`, `an array of at most ${maxFields} names`);
  const position = new Map(fields.map((name, index) => [name, index]));
  const missing = required.filter((name) => !position.has(name));
  if (missing.length) throw malformed(`meta.${key}`, `the fields ${missing.join(', ')}`);
  return { fieldCount: fields.length, position };
}

/** In Node 24 node_types is longer than node_fields (a stale entry), so only the entry at `typeAt` is used. */
function readTypes(meta: Record<string, unknown>, key: string, typeAt: number): string[] {
  const types = meta[key];
  const names = Array.isArray(types) ? types[typeAt] : undefined;
  if (!isStringArray(names) || names.length === 0 || names.length > maxNodeTypes - nodeTypeNames.length)
    throw malformed(`meta.${key}`, 'a list of type names at the place of `type`');
  return names;
}

function readCount(raw: Record<string, unknown>, key: string): number {
  const value = raw[key];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw malformed(`snapshot.${key}`, 'a count');
  return value;
}

function optionalCount(raw: Record<string, unknown>, key: string): number {
  return raw[key] === undefined ? 0 : readCount(raw, key);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function namesOf(value: unknown): string[] {
  return isStringArray(value) && value.length <= maxFields ? value : [];
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function malformed(field: string, wanted: string): MalformedInput {
  return new MalformedInput(`not a heap snapshot: ${field} should be ${wanted}`, {
    format: formatName,
    field,
    wanted,
  });
}
