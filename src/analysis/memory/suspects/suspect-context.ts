/** What every rule needs to say something: the heap, its total, and the words for sizes, shares and places. */

import { EdgeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapSuspect } from '../../../model/heap.ts';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { findChild, nodeRow } from '../questions/node-rows.ts';
import { pathTail, pathText, shortPath } from '../questions/paths.ts';
import { sourceOf, sourceText } from '../questions/scripts.ts';

export interface SuspectContext {
  heap: Heap;
  totalBytes: number;
  /** Without the tables that were made at once: beside them a leak would look small for long. */
  growableBytes: number;
}

/** One rule of one file in rules/. Must be silent where it has nothing to say. */
export interface SuspectRule {
  name: string;
  /** It sees size and structure only: not said where a rule before it has explained the same bytes. */
  isGeneral?: boolean;
  find(context: SuspectContext): HeapSuspect[];
}

export type SuspectWords = Pick<HeapSuspect, 'title' | 'sentence' | 'confidence' | 'evidence' | 'refutedBy'>;

/** A suspect around one node; the title says where it is. */
export function suspectAt(
  { heap, totalBytes }: SuspectContext,
  rule: string,
  node: number,
  bytes: number,
  words: SuspectWords,
): HeapSuspect {
  const source = sourceOf(heap, heap.snapshot.location(node));
  const path = placeText(heap, node);
  return {
    rule,
    ...words,
    title: `${words.title}: ${pathTail(path)}`,
    retainedSizeBytes: bytes,
    share: bytes / totalBytes,
    node: nodeRow(heap, node),
    path,
    ...(source ? { source } : {}),
  };
}

/** Of a program that has hardly begun, a tenth is what Node itself keeps. */
const leastLargeBytes = 2 * 1024 ** 2;

/** Whether so many bytes are a share of the heap worth a word, for rules that see nothing but sizes. */
export function isLargeShare({ growableBytes }: SuspectContext, bytes: number, share: number): boolean {
  return bytes >= growableBytes * share && bytes >= leastLargeBytes;
}

export function shareText(bytes: number, { totalBytes }: SuspectContext): string {
  const percent = (100 * bytes) / totalBytes;
  return `${percent < 9.5 ? percent.toFixed(1) : Math.round(percent)} % of the heap (${formatBytes(bytes)})`;
}

/** `an Array of class Foo at src/a.ts:3:4`, as far as it is known. */
export function describeNode(heap: Heap, node: number): string {
  const place = sourceText(sourceOf(heap, heap.snapshot.location(node)));
  return `${heap.className(node)} @${heap.snapshot.nodes.id.get(node)}${place ? ` (constructor at ${place})` : ''}`;
}

/** Where it is, as one would write it. */
export function placeText(heap: Heap, node: number): string {
  return shortPath(pathText(heap, node));
}

export const manyText = (count: number, what: string): string => `${formatNumber(count)} ${what}`;

/** Nodes that hold at least this share, largest first; of a chain of one class only the first. */
export function largeNodes({ heap, growableBytes }: SuspectContext, share: number, limit = 2000): number[] {
  const { retained, classes, tree } = heap;
  const least = growableBytes * share;
  const found: number[] = [];
  for (let node = 0; node < heap.nodeCount; node++) {
    if (retained[node]! < least || node === heap.root) continue;
    if (classes.of[tree.dominator[node]!] === classes.of[node]) continue;
    found.push(node);
  }
  return found.sort((a, b) => retained[b]! - retained[a]!).slice(0, limit);
}

/**
 * What a JSON module exports was all there when it was loaded; what Node keeps of all modules is no one's leak, and a
 * module's exports as a whole are as large as its code wants.
 */
export function isModuleData({ heap }: SuspectContext, node: number): boolean {
  if (findChild(heap, node, '__esModule', EdgeType.property) >= 0) return true;
  return /\.json"\]\.exports[^(]*$|\.(?:loadCache|_cache)(?:\{table\}|\.get\(…\))?$/.test(
    placeText(heap, node),
  );
}
