/** The documents of `agentdump heap`, one function per command. Callers print them; model/heap.ts defines their shapes. */
import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import {
  type HeapClassRow,
  type HeapDocument,
  type HeapEdgeRow,
  type HeapFillTable,
  type HeapNodeRow,
  type HeapPath,
  type HeapQueryTable,
  type HeapStringRow,
  type HeapSummary,
  type HeapSuspect,
  type HeapValue,
  heapSchema,
} from '../../../model/heap.ts';
import type { Gap } from '../../../model/verdict.ts';
import type { Growth } from '../growth/growth.ts';
import { growthSuspects } from '../growth/growth-suspects.ts';
import type { Heap } from '../heap.ts';
import type { OtherSnapshot } from '../query/change.ts';
import { parseQuery } from '../query/parse.ts';
import { nodesOfWords, runQuery } from '../query/run.ts';
import { computeSuspects } from '../suspects/suspects.ts';
import type { Allocations } from './allocations.ts';
import { computeDuplicateStrings } from './duplicate-strings.ts';
import { computeFillTable } from './fill-table.ts';
import { computeHeapValue, type ValueInMemory } from './heap-value.ts';
import { largestRows } from './largest.ts';
import { type MergedPaths, mergePaths } from './merged-paths.ts';
import { nodeRow, requireNode } from './node-rows.ts';
import { computePath } from './paths.ts';
import { type ClassOrder, classRows, computeSummary } from './summary.ts';

/** The snapshot, and the name it was given by. */
export interface Asked {
  heap: Heap;
  source: string;
  gaps: Gap[];
  /** The node in question as read from process memory. */
  inMemory?: ValueInMemory | undefined;
}

export type ClassesDocument = HeapDocument & {
  totalBytes: number;
  classCount: number;
  classes: HeapClassRow[];
};
export type SuspectsDocument = HeapDocument & { totalBytes: number; suspects: HeapSuspect[] };
export type RetainersDocument = HeapDocument & {
  node: HeapNodeRow;
  retainerCount: number;
  retainers: HeapEdgeRow[];
};
export type NodesDocument = HeapDocument & { node?: HeapNodeRow; nodes: HeapNodeRow[] };
export type PathDocument = HeapDocument & { node: HeapNodeRow; path: HeapPath };
export type PathsDocument = HeapDocument & MergedPaths & { of: string };
export type StringsDocument = HeapDocument & {
  count: number;
  selfSizeBytes: number;
  wastedBytes: number;
  rows: HeapStringRow[];
};
export type FillDocument = HeapDocument & HeapFillTable;
export type ValueDocument = HeapDocument & { node: HeapNodeRow; value: HeapValue };
export type AllocationsDocument = HeapDocument & Allocations & { rowCount: number };
export type QueryDocument = HeapDocument & {
  matches: number;
  /** The columns of `table`, by name. */
  select?: string[];
  nodes: HeapNodeRow[];
  table?: HeapQueryTable;
  notes: string[];
};
export type GrowthDocument = HeapDocument & Growth & { sources: string[] };

const head = ({ source, gaps }: Pick<Asked, 'source' | 'gaps'>): HeapDocument => ({
  schema: heapSchema,
  source,
  gaps,
});

export function summaryDocument(asked: Asked, limit: number): HeapSummary {
  return { ...head(asked), ...computeSummary(asked.heap, limit) };
}

export function classesDocument(asked: Asked, order: ClassOrder, limit: number): ClassesDocument {
  const rows = classRows(asked.heap, order);
  return {
    ...head(asked),
    totalBytes: asked.heap.totalBytes,
    classCount: rows.length,
    classes: rows.slice(0, limit),
  };
}

export function suspectsDocument(asked: Asked, limit: number): SuspectsDocument {
  return {
    ...head(asked),
    totalBytes: asked.heap.totalBytes,
    suspects: computeSuspects(asked.heap, { limit }),
  };
}

export function retainersDocument(asked: Asked, words: string, limit: number): RetainersDocument {
  const { heap } = asked;
  const node = requireNode(heap, words);
  const edges = [...heap.retainers.to(node)];
  const rank = (edge: number): number => heap.distances[heap.retainers.sourceOf(edge)]! >>> 0;
  const isWeak = (edge: number): number => Number(heap.snapshot.edgeType(edge) === EdgeType.weak);
  edges.sort((a, b) => isWeak(a) - isWeak(b) || rank(a) - rank(b) || a - b);
  const retainers = edges.slice(0, limit).map((edge) => ({
    edge: heap.snapshot.edgeName(edge),
    edgeType: heap.snapshot.edgeTypeName(edge),
    node: nodeRow(heap, heap.retainers.sourceOf(edge)),
  }));
  return { ...head(asked), node: nodeRow(heap, node), retainerCount: edges.length, retainers };
}

/** The nodes with the largest retained size; with `words`, those that this node immediately dominates. */
export function dominatorsDocument(asked: Asked, words: string | undefined, limit: number): NodesDocument {
  const { heap } = asked;
  if (words === undefined) {
    const nodes = largestRows(heap.retained, limit, () => true).map((node) => nodeRow(heap, node));
    return { ...head(asked), nodes };
  }
  const node = requireNode(heap, words);
  const below = [...heap.dominated.of(node)].sort((a, b) => heap.retained[b]! - heap.retained[a]! || a - b);
  return {
    ...head(asked),
    node: nodeRow(heap, node),
    nodes: below.slice(0, limit).map((child) => nodeRow(heap, child)),
  };
}

export function pathDocument(asked: Asked, words: string): PathDocument {
  const node = requireNode(asked.heap, words);
  return { ...head(asked), node: nodeRow(asked.heap, node), path: computePath(asked.heap, node) };
}

/** @param words a class, a node id, or a condition of the query language. */
export function pathsDocument(asked: Asked, words: string, limit: number): PathsDocument {
  const nodes = nodesOfWords(asked.heap, words);
  return { ...head(asked), of: words, ...mergePaths(asked.heap, nodes, limit) };
}

export function stringsDocument(asked: Asked, limit: number): StringsDocument {
  return { ...head(asked), ...computeDuplicateStrings(asked.heap, limit, true) };
}

export function fillDocument(asked: Asked, limit: number): FillDocument {
  return { ...head(asked), ...computeFillTable(asked.heap, limit) };
}

export function valueDocument(asked: Asked, words: string, limit: number): ValueDocument {
  const node = requireNode(asked.heap, words);
  return {
    ...head(asked),
    node: nodeRow(asked.heap, node),
    value: computeHeapValue(asked.heap, node, limit, asked.inMemory),
  };
}

export function allocationsDocument(
  source: string,
  gaps: Gap[],
  { rows, ...found }: Allocations,
  limit: number,
): AllocationsDocument {
  return { ...head({ source, gaps }), ...found, rowCount: rows.length, rows: rows.slice(0, limit) };
}

export function queryDocument(
  asked: Asked,
  text: string,
  limit: number,
  other?: OtherSnapshot,
): QueryDocument {
  const query = parseQuery(text);
  const { table, ...answer } = runQuery(asked.heap, query, limit, other);
  const select = table?.columns.map(({ name }) => name);
  return { ...head(asked), ...answer, ...(table && select ? { select, table } : {}) };
}

export function growthDocument(
  sources: string[],
  gaps: Gap[],
  growth: Growth,
  limit: number,
): GrowthDocument {
  const source = sources.at(-1)!;
  return { ...head({ source, gaps }), sources, ...growth, classes: growth.classes.slice(0, limit) };
}

/** Growth between several snapshots, as suspects. */
export function growthSuspectsDocument(
  sources: string[],
  gaps: Gap[],
  growth: Growth,
  limit: number,
): SuspectsDocument & { sources: string[] } {
  const { totalBytes } = growth.snapshots.at(-1)!;
  return {
    ...head({ source: sources.at(-1)!, gaps }),
    sources,
    totalBytes,
    suspects: growthSuspects(growth, limit),
  };
}
