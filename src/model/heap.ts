/**
 * What is said about a heap: rows and documents of `agentdump heap …`. Sizes are bytes and stand in the names; a size
 * said to be retained overlaps with others and must not be summed. No IO, no snapshot format.
 */
import type { Confidence, Gap } from './verdict.ts';

export const heapSchema = 'agentdump.heap/1';

/** Every document of `heap` starts so. */
export interface HeapDocument {
  schema: typeof heapSchema;
  /** The file or bundle, as it was named. */
  source: string;
  gaps: Gap[];
}

export interface HeapNodeRow {
  /** The snapshot's own id: the same object has the same in another snapshot of one process. */
  id: number;
  name: string;
  /** V8's kind of node: object, string, closure, array… */
  type: string;
  class: string;
  /** Its own bytes, with those of internal parts that only it uses. */
  selfSizeBytes: number;
  /** What would be freed with it. */
  retainedSizeBytes: number;
  /** Steps from the program's roots; null when nothing strong leads to it; 100,000,000 more when only V8 holds it. */
  distance: number | null;
  /** Id of the node without which it would be free; null for the root. */
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
  /** Sums to the whole heap over all classes. */
  selfSizeBytes: number;
  retainedSizeBytes: number;
  distance: number | null;
  /** Where the constructor was written. */
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
  /** By what it is, as DevTools' statistics; the parts that are no code, string, array or system are objects. */
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
  /** By package of the constructor or function, where the snapshot says where it was written. */
  packages: HeapShareRow[];
  files: HeapShareRow[];
  /** Bytes of nodes that have a source location. */
  locatedBytes: number;
}

export interface HeapEdgeRow {
  /** Property, variable or slot; an element's index as text. */
  edge: string;
  edgeType: string;
  node: HeapNodeRow;
}

export interface HeapPath {
  /** From the root to the node; the first has no edge. */
  steps: HeapEdgeRow[];
  /** As one would write it: `global.sessions[3].messages`. */
  text: string;
}

export interface HeapSuspect {
  rule: string;
  title: string;
  /** To be pasted into an issue. */
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
}

export interface HeapStringRow {
  value: string;
  count: number;
  selfSizeBytes: number;
  /** What one copy would save. */
  wastedBytes: number;
  id: number;
}

export interface HeapValue {
  id: number;
  kind: string;
  class: string;
  /** One line. */
  text: string;
  retainedSizeBytes: number;
  entries: { key: string; id: number; text: string; retainedSizeBytes: number }[];
  /** Entries in all; more than are listed when the list was cut. */
  entryCount: number;
  /** Properties that hold a small integer are missing: V8 left those out of the snapshot (`exposeNumericValues`). */
  lacksNumbers?: boolean;
  source?: HeapSource;
  /** Stack of its allocation, innermost first, where allocations were tracked. */
  allocatedAt?: { function: string; script: string; line: number; column: number }[];
}

/** What one function of the program allocated, itself or by what it called. Rows don't overlap. */
export interface HeapAllocationRow {
  function: string;
  /** URL or path; empty where no function was known. */
  script: string;
  /** 1-based, where the function was written; 0 if not known. */
  line: number;
  column: number;
  /** Of what is alive. */
  bytes: number;
  /** Of all that is attributed, 0 to 1. */
  share: number;
  /** The rest where every allocation was tracked, and not only samples. Objects that are alive. */
  count?: number;
  /** What would be freed with them; overlaps between rows. */
  retainedSizeBytes?: number;
  /** Since tracking began, with what is free again. */
  allocatedBytes?: number;
  allocatedCount?: number;
  /** Of its largest call tree node, innermost first. */
  stack: string[];
}

/** A column of a query's answer: how its numbers are to be read. */
export interface HeapQueryColumn {
  /** As it was asked for. */
  name: string;
  kind: 'id' | 'bytes' | 'number' | 'value';
}

export interface HeapQueryTable {
  columns: HeapQueryColumn[];
  /** An object is its class and id; what is missing is null. */
  rows: (string | number | boolean | null)[][];
  /** Rows in all; more than are listed when there is a limit. */
  rowCount: number;
}

export interface HeapGrowthRow {
  class: string;
  /** One number a snapshot, in the order given. */
  counts: number[];
  selfSizeBytes: number[];
  retainedSizeBytes: number[];
  countGrowth: number;
  sizeGrowthBytes: number;
  retainedGrowthBytes: number;
  /**
   * Objects of the last snapshot that the first one did not have, and the other way round; of two processes, where that
   * can't be told, only the difference of the counts.
   */
  added: number;
  removed: number;
  trend: 'grows' | 'shrinks' | 'steady' | 'unsteady';
}

/** Objects at one place that hold more than before. */
export interface HeapGrownNode {
  /** The one that grew most. */
  node: HeapNodeRow;
  count: number;
  beforeBytes: number;
  growthBytes: number;
  /** With `*` for the numbers of elements. */
  path: string;
  /** What they held in each snapshot, where objects are known by their id; nothing before they were there. */
  heldBytes?: number[];
  /** Of what is new below them the class with most bytes, where objects are known by their id. */
  added?: { class: string; count: number; retainedSizeBytes: number; source?: HeapSource };
  /** What says that it is meant to fill up to a size of its own, such as `property maxSize`. */
  limit?: string;
}
