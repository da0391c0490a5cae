/** What the rules share: the heap, its total size, and texts for sizes, shares and places. */

import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapNodeRow, HeapSuspect } from '../../../model/heap.ts';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { findChild, nodeRow } from '../questions/node-rows.ts';
import { pathTail, pathText, shortPath } from '../questions/paths.ts';
import { sourceOf, sourceText } from '../questions/scripts.ts';

export interface SuspectContext {
  heap: Heap;
  totalBytes: number;
  /** Without tables that were created at once: next to them, a leak would look small for a long time. */
  growableBytes: number;
  /** Memory ran out: whatever filled it must be told. */
  tellsAll: boolean;
}

/** One rule in rules/. Returns nothing if it has no finding. */
export interface SuspectRule {
  name: string;
  /** The rule only sees size and structure: omitted if an earlier rule has explained the same bytes. */
  isGeneral?: boolean;
  find(context: SuspectContext): HeapSuspect[];
}

export type SuspectWords = Pick<HeapSuspect, 'title' | 'sentence' | 'confidence' | 'evidence' | 'refutedBy'>;

/** A suspect at one node; the place is added to the title. */
export function suspectAt(
  { heap, totalBytes }: SuspectContext,
  rule: string,
  node: number,
  bytes: number,
  words: SuspectWords,
): HeapSuspect {
  const source = sourceOf(heap, heap.snapshot.location(node));
  const path = placeText(heap, node);
  const row = nodeRow(heap, node);
  ordinals.set(row, node);
  return {
    rule,
    ...words,
    title: `${words.title}: ${pathTail(path)}`,
    retainedSizeBytes: bytes,
    share: bytes / totalBytes,
    node: row,
    path,
    ...(source ? { source } : {}),
  };
}

/** By row: its node, so that no index of ids has to be built to find it again. */
const ordinals = new WeakMap<HeapNodeRow, number>();

/** The ordinal of a suspect's node. */
export function ordinalOf(heap: Heap, row: HeapNodeRow): number {
  return ordinals.get(row) ?? heap.snapshot.findById(row.id);
}

/** In a program that has just started, Node itself retains a tenth of the heap. */
export const leastLargeBytes = 2 * 1024 ** 2;

/** Whether this many bytes are worth reporting, for rules that only see sizes. */
export function isLargeShare({ growableBytes }: SuspectContext, bytes: number, share: number): boolean {
  return bytes >= growableBytes * share && bytes >= leastLargeBytes;
}

export function shareText(bytes: number, { totalBytes }: SuspectContext): string {
  const percent = (100 * bytes) / totalBytes;
  return `${percent < 9.5 ? percent.toFixed(1) : Math.round(percent)} % of the heap (${formatBytes(bytes)})`;
}

/** The class, the id and, if known, the place of the constructor. */
export function describeNode(heap: Heap, node: number): string {
  const place = sourceText(sourceOf(heap, heap.snapshot.location(node)));
  return `${heap.className(node)} @${heap.snapshot.nodes.id.get(node)}${place ? ` (constructor at ${place})` : ''}`;
}

/** The path to the node, as it would be written in code. */
export function placeText(heap: Heap, node: number): string {
  return shortPath(pathText(heap, node));
}

export const manyText = (count: number, what: string): string => `${formatNumber(count)} ${what}`;

/** Nodes that retain at least this share, largest first; of a chain of one class only the first. */
export function largeNodes({ heap, growableBytes }: SuspectContext, share: number, limit = 2000): number[] {
  const { retained, classes, tree, nodeCount } = heap;
  const least = growableBytes * share;
  const found: number[] = [];
  for (let node = 0; node < nodeCount; node++) {
    if (retained[node]! < least || node === heap.root) continue;
    if (classes.of[tree.dominator[node]!] === classes.of[node]) continue;
    found.push(node);
  }
  return found.sort((a, b) => retained[b]! - retained[a]!).slice(0, limit);
}

/**
 * The exports of a JSON module were complete when it was loaded; Node's module caches are not a leak, and a module's exports
 * are as large as its code makes them. Other caches are called `_cache` too.
 */
export function isModuleData({ heap }: SuspectContext, node: number): boolean {
  if (findChild(heap, node, '__esModule', EdgeType.property) >= 0) return true;
  const path = placeText(heap, node);
  if (/\.json"\]\.exports[^(]*$|\.loadCache(?:\{table\}|\.get\(…\))?$/.test(path)) return true;
  return /\._cache$/.test(path) && holdsModules(heap, node);
}

function holdsModules(heap: Heap, node: number): boolean {
  const { snapshot } = heap;
  const { firstEdge } = snapshot.nodes;
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
    if (
      snapshot.edgeType(edge) === EdgeType.property &&
      heap.className(snapshot.edgeTarget(edge)) === 'Module'
    )
      return true;
  return false;
}
