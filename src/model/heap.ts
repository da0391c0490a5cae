/**
 * Rows and documents of `agentdump heap …`. Sizes are in bytes, as in their names. Retained sizes overlap and must not be
 * added up. No IO, independent of the snapshot format.
 */
import type { Confidence, Gap } from './verdict.ts';

export const heapSchema = 'agentdump.heap/1';

/** The common fields of every document of `heap`. */
export interface HeapDocument {
  schema: typeof heapSchema;
  /** The file or bundle, as given by the user. */
  source: string;
  gaps: Gap[];
}

export interface HeapNodeRow {
  /** The snapshot's own id. An object has the same id in other snapshots of the same process. */
  id: number;
  name: string;
  /** V8's type of node: object, string, closure, array… */
  type: string;
  class: string;
  /** Its own size, including internal parts that only it uses. */
  selfSizeBytes: number;
  /** The size that would be freed with it. */
  retainedSizeBytes: number;
  /**
   * Steps from the program's roots; null if no strong path leads to it; increased by 100,000,000 if only V8 references it.
   */
  distance: number | null;
  /** Id of the immediate dominator, the node without which it would be free; null for the root. */
  dominatorId: number | null;
}

/** 1-based. */
export interface HeapSource {
  file?: string;
  scriptId: number;
  line: number;
  column: number;
}

export interface HeapClassRow {
  class: string;
  count: number;
  /** The sum over all classes is the size of the heap. */
  selfSizeBytes: number;
  retainedSizeBytes: number;
  distance: number | null;
  /** Where the constructor is defined. */
  source?: HeapSource;
}

export interface HeapShareRow {
  name: string;
  count: number;
  selfSizeBytes: number;
}

export interface HeapSummary extends HeapDocument {
  nodes: number;
  edges: number;
  strings: number;
  totalBytes: number;
  /** By category, as in DevTools' statistics. The remainder, which is not code, strings, arrays or system, is objects. */
  statistics: {
    nativeBytes: number;
    typedArrayBytes: number;
    codeBytes: number;
    stringBytes: number;
    jsArrayBytes: number;
    systemBytes: number;
  };
  byType: HeapShareRow[];
  classes: HeapClassRow[];
  /** By package of the constructor or function, if the snapshot contains source locations. */
  packages: HeapShareRow[];
  files: HeapShareRow[];
  /** Total size of nodes that have a source location. */
  locatedBytes: number;
}

export interface HeapEdgeRow {
  /** Property, variable or slot; for elements the index as text. */
  edge: string;
  edgeType: string;
  node: HeapNodeRow;
}

export interface HeapPath {
  /** From the root to the node; the first step has no edge. */
  steps: HeapEdgeRow[];
  /** As an expression: `global.sessions[3].messages`. */
  text: string;
}

/** One line of merged paths: the steps that all objects below have in common. */
export interface HeapPathLine {
  /** From the line above, in the middle abbreviated if it is long; `*` for indexes and keys. */
  path: string;
  /** Of the nodes at its end. */
  class: string;
  /** The one of them that retains most. */
  id: number;
  nodes: number;
  /** What would be freed if these nodes were cut off, whether or not it was asked about. */
  nodesRetainedSizeBytes: number;
  /** Objects in question that are reached this way, of which `endHere` at this line. */
  objects: number;
  endHere: number;
  /** Of these objects. */
  selfSizeBytes: number;
  /** Of these objects, without counting one again that another one retains. */
  retainedSizeBytes: number;
  /** A list, tree or chain: how often its steps are repeated at most. */
  times?: number;
  /** Largest first. */
  below: HeapPathLine[];
}

export interface HeapSuspect {
  rule: string;
  title: string;
  /** Suitable for pasting into an issue. */
  sentence: string;
  confidence: Confidence;
  retainedSizeBytes: number;
  /** Of the whole heap, 0 to 1. */
  share: number;
  evidence: string[];
  refutedBy: string;
  node?: HeapNodeRow;
  path?: string;
  source?: HeapSource;
  /** Only its size is known, which one snapshot can't tell from growth: one of the largest holders, no suspicion. */
  growth?: 'unknown';
}

export interface HeapStringRow {
  value: string;
  count: number;
  selfSizeBytes: number;
  /** The size that would be saved by keeping only one copy. */
  wastedBytes: number;
  id: number;
  /** The nearest holders of its copies, at most three, by number; not in every list. */
  holders?: HeapHolder[];
}

export interface HeapHolder {
  /** Class and field: `Session.id`, `Map.get(…)`. */
  holder: string;
  count: number;
  /** Of one of these objects, with `*` instead of indexes and keys. */
  path: string;
}

/** `elements`: of an object with numbers as keys; `dictionary`: an object whose properties V8 keeps in a hash table. */
export type HeapFillKind = 'map' | 'set' | 'array' | 'sparse array' | 'elements' | 'dictionary';

/** The collections of one class and kind: the room that V8 reserved, against its use. */
export interface HeapFillRow {
  class: string;
  kind: HeapFillKind;
  count: number;
  /**
   * Number of those that hold nothing, and of those whose use the snapshot doesn't show: empty, or nothing but numbers.
   */
  empty: number;
  unknown: number;
  /** Entries, of those whose use is known. */
  capacity: number;
  used: number;
  /** 0 to 1; null if the use of none is known. */
  fill: number | null;
  /** Of all of them. */
  capacityBytes: number;
  /** Of free entries. */
  wastedBytes: number;
  /** The nearest holders of those with free entries, at most three, by number. */
  holders: HeapHolder[];
}

/** One collection with many free entries. */
export interface HeapPoorlyFilled {
  id: number;
  class: string;
  kind: HeapFillKind;
  capacity: number;
  used: number;
  wastedBytes: number;
  path: string;
}

/** The fill of all collections of a heap: by class, and those that waste most. */
export interface HeapFillTable {
  collections: number;
  /** Of their slots, used or not. */
  capacityBytes: number;
  wastedBytes: number;
  /** Collections whose use is not visible. */
  unknown: number;
  unknownBytes: number;
  classCount: number;
  classes: HeapFillRow[];
  largest: HeapPoorlyFilled[];
}

export interface HeapValue {
  id: number;
  kind: string;
  class: string;
  /** One line. */
  text: string;
  retainedSizeBytes: number;
  entries: { key: string; id: number; text: string; retainedSizeBytes: number }[];
  /** Total number of entries; larger than the list if it was truncated. */
  entryCount: number;
  /**
   * Properties with a small integer as their value are missing: V8 omitted them from the snapshot (`exposeNumericValues`).
   */
  lacksNumbers?: boolean;
  source?: HeapSource;
  /** Stack of its allocation, innermost first, if allocations were tracked. */
  allocatedAt?: { function: string; script: string; line: number; column: number }[];
}

/** What one function of the program allocated, itself or through functions that it called. Rows don't overlap. */
export interface HeapAllocationRow {
  function: string;
  /** URL or path; empty if the function is unknown. */
  script: string;
  /** 1-based, where the function is defined; 0 if unknown. */
  line: number;
  column: number;
  /** Of objects that are alive. */
  bytes: number;
  /** Of the total that is attributed, 0 to 1. */
  share: number;
  /**
   * Number of live objects. This and the following optional fields require that every allocation was tracked, not only
   * samples.
   */
  count?: number;
  /** The size that would be freed with them; rows overlap. */
  retainedSizeBytes?: number;
  /** Since tracking began, including what has been freed again. */
  allocatedBytes?: number;
  allocatedCount?: number;
  /** Of its largest call tree node, innermost first. */
  stack: string[];
}

/** A column of a query's result: defines how its values are displayed. */
export interface HeapQueryColumn {
  /** As in the query. */
  name: string;
  kind: 'id' | 'bytes' | 'number' | 'value';
}

export interface HeapQueryTable {
  columns: HeapQueryColumn[];
  /** An object is represented by its class and id; missing values are null. */
  rows: (string | number | boolean | null)[][];
  /** Total number of rows; larger than the list if there is a limit. */
  rowCount: number;
}

export interface HeapGrowthRow {
  class: string;
  /** One number per snapshot, in the order of the arguments. */
  counts: number[];
  selfSizeBytes: number[];
  retainedSizeBytes: number[];
  countGrowth: number;
  sizeGrowthBytes: number;
  retainedGrowthBytes: number;
  /**
   * Objects that are only in the last snapshot, or only in the first. For snapshots of two processes, where objects can't be
   * matched, only the difference of the counts.
   */
  added: number;
  removed: number;
  trend: 'grows' | 'shrinks' | 'steady' | 'unsteady';
}

/** Objects at one path that retain more than before. */
export interface HeapGrownNode {
  /** The one that grew most. */
  node: HeapNodeRow;
  count: number;
  beforeBytes: number;
  growthBytes: number;
  /** With `*` instead of element numbers. */
  path: string;
  /** Their retained size in each snapshot, if objects can be matched by id; zero before they existed. */
  heldBytes?: number[];
  /** The class with the largest size among new objects below them, if objects can be matched by id. */
  added?: { class: string; count: number; retainedSizeBytes: number; source?: HeapSource };
  /** Evidence that it is a cache that fills up to a limit of its own, such as `property maxSize`. */
  limit?: string;
}
