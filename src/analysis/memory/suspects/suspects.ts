/**
 * Runs the rules and ranks their findings: the largest and most certain first; if several explain the same bytes, only the
 * most informative one. To add a rule, write rules/<name>.ts and insert it into the list by how much it explains.
 */
import type { HeapSuspect } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { cachesRule } from '../rules/caches.ts';
import { closuresRule } from '../rules/closures.ts';
import { collectionsRule } from '../rules/collections.ts';
import { contextsRule } from '../rules/contexts.ts';
import { conversationsRule } from '../rules/conversations.ts';
import { documentsRule } from '../rules/documents.ts';
import { duplicateStringsRule } from '../rules/duplicate-strings.ts';
import { embeddingsRule } from '../rules/embeddings.ts';
import { externalMemoryRule } from '../rules/external-memory.ts';
import { largeClassRule } from '../rules/large-class.ts';
import { largeObjectRule } from '../rules/large-object.ts';
import { listenersRule } from '../rules/listeners.ts';
import { moduleVersionsRule } from '../rules/module-versions.ts';
import { promisesRule } from '../rules/promises.ts';
import { registeredSymbolsRule } from '../rules/registered-symbols.ts';
import { streamsRule } from '../rules/streams.ts';
import { timersRule } from '../rules/timers.ts';
import { toolResultsRule } from '../rules/tool-results.ts';
import { isCrowd } from './crowds.ts';
import { limitOf, removesOldest } from './limits.ts';
import { bytesMadeAtOnce, isTable } from './made-at-once.ts';
import { showsGrowth } from './signs-of-growth.ts';
import { holdsSmallRows } from './small-rows.ts';
import { ordinalOf, type SuspectContext, type SuspectRule } from './suspect-context.ts';

/** Rules that know the purpose of an object come before those that only see that it is large. */
export const rules: readonly SuspectRule[] = [
  toolResultsRule,
  conversationsRule,
  documentsRule,
  embeddingsRule,
  moduleVersionsRule,
  registeredSymbolsRule,
  cachesRule,
  listenersRule,
  timersRule,
  streamsRule,
  promisesRule,
  contextsRule,
  collectionsRule,
  closuresRule,
  largeObjectRule,
  largeClassRule,
  externalMemoryRule,
  duplicateStringsRule,
];

const general = new Set(rules.filter((rule) => rule.isGeneral).map((rule) => rule.name));
const sureness = { certain: 1, likely: 0.8, possible: 0.5 };

export interface SuspectOptions {
  limit?: number;
  /** After memory ran out, whatever filled it must be reported, even a table that was created at once. */
  withTables?: boolean;
}

export function computeSuspects(
  heap: Heap,
  { limit = 10, withTables = false }: SuspectOptions = {},
): HeapSuspect[] {
  const { totalBytes } = heap;
  const growableBytes = totalBytes - bytesMadeAtOnce(heap, totalBytes * leastTableShare);
  const context: SuspectContext = { heap, totalBytes, growableBytes, tellsAll: withTables };
  const all = rules.flatMap((rule) => rule.find(context));
  const tables = withTables ? 0 : leastTableBytes;
  // First, so that a finding that is not told doesn't stand for one that would be.
  const left = all
    .flatMap((suspect) => discounted(heap, suspect, tables))
    .map((suspect) =>
      withTables || !isOfSize(heap, suspect) ? suspect : { ...suspect, growth: 'unknown' as const },
    );
  const told = left.filter(
    (suspect, at) =>
      !general.has(suspect.rule) ||
      !left.slice(0, at).some((earlier) => saysItAlready(heap, earlier, suspect)),
  );
  const weights = new Map(told.map((suspect) => [suspect, weightOf(heap, suspect)]));
  const weight = (suspect: HeapSuspect): number => weights.get(suspect)!;
  const isLast = (suspect: HeapSuspect): number => Number(meantToBeLarge.has(suspect.refutedBy));
  const isHolder = (suspect: HeapSuspect): number => Number(suspect.growth !== undefined);
  return told
    .sort((a, b) => isHolder(a) - isHolder(b) || isLast(a) - isLast(b) || weight(b) - weight(a))
    .slice(0, limit);
}

/** Whether nothing but its size speaks for a leak. */
function isOfSize(heap: Heap, { rule, node }: HeapSuspect): boolean {
  if (!ofSize.has(rule) && !ofContents.has(rule)) return false;
  return !node || !showsGrowth(heap, ordinalOf(heap, node));
}

/** Of small rows, such as those of a table that was filled in a loop. */
const sureOfSmallRows = 0.25;

function weightOf(heap: Heap, { rule, node, retainedSizeBytes, confidence }: HeapSuspect): number {
  const isOfRows = node && ofSizeAlone.has(rule) && holdsSmallRows(heap, ordinalOf(heap, node));
  return retainedSizeBytes * sureness[confidence] * (isOfRows ? sureOfSmallRows : 1);
}

/** Rules that see that a container is large, but not how large it may become. */
const ofSize: ReadonlySet<string> = new Set([
  'unbounded-cache',
  'growing-collection',
  'large-object',
  'large-class',
  'closure-context',
  'external-memory',
]);
/** Rules that know what something is, and from one snapshot no more of how it came than its size. */
const ofContents: ReadonlySet<string> = new Set(['embeddings', 'documents', 'duplicate-strings']);
/** Of these, the ones that have not counted what is in the container. */
const ofSizeAlone: ReadonlySet<string> = new Set([
  'unbounded-cache',
  'growing-collection',
  'large-object',
  'closure-context',
]);
/** Data that is meant to be large (a table, a container with a limit) is reported only from this share of the heap on. */
const largeForBounded = 0.5;
const leastTableShare = 0.05;
const mostOfBuffers = 0.8;
/** Smaller tables are no problem for any machine. */
const leastTableBytes = 256 * 1024 ** 2;
const tableRefutation = 'A table that is meant to be that large.';
const fewRefutation = 'It is meant to be that large.';
const limitRefutation = 'Its limit is meant to be that high.';
/** Ranked after everything that may grow without limit. */
const meantToBeLarge: ReadonlySet<string> = new Set([tableRefutation, limitRefutation, fewRefutation]);

function discounted(heap: Heap, suspect: HeapSuspect, tableBytes: number): HeapSuspect[] {
  if (!suspect.node) return [suspect];
  const node = ordinalOf(heap, suspect.node);
  if (seesSizeAlone(heap, suspect, node) && isTable(heap, node)) return table(suspect, tableBytes);
  const limit = ofSize.has(suspect.rule) && boundOf(heap, node);
  const isFew = !limit && tableBytes > 0 && ofSizeAlone.has(suspect.rule) && !isCrowd(heap, node);
  if (!limit && !isFew) return [suspect];
  if (suspect.share < largeForBounded || suspect.retainedSizeBytes < tableBytes) return [];
  if (!limit) return [{ ...suspect, confidence: 'possible', refutedBy: fewRefutation }];
  return [
    {
      ...suspect,
      sentence: `${suspect.path ?? 'A container'} holds ${Math.round(100 * suspect.share)} % of the heap. It has a limit of its own (${limit}): lower it if that is more than was meant.`,
      confidence: 'possible',
      refutedBy: limitRefutation,
    },
  ];
}

function boundOf(heap: Heap, node: number): string | undefined {
  return limitOf(heap, node) ?? (removesOldest(heap, node) ? 'its oldest entries were removed' : undefined);
}

/**
 * A cache is known by its name, and its size alone makes it a suspect. For external memory, the fixed length of one buffer
 * only matters if it accounts for most of the bytes; otherwise their number does.
 */
function seesSizeAlone(heap: Heap, suspect: HeapSuspect, node: number): boolean {
  if (suspect.rule !== 'external-memory')
    return general.has(suspect.rule) || suspect.rule === cachesRule.name;
  return heap.retained[node]! >= suspect.retainedSizeBytes * mostOfBuffers;
}

function table(suspect: HeapSuspect, leastBytes: number): HeapSuspect[] {
  if (suspect.share < largeForBounded || suspect.retainedSizeBytes < leastBytes) return [];
  return [
    {
      ...suspect,
      sentence: `${suspect.path ?? 'An array'} holds ${Math.round(100 * suspect.share)} % of the heap. It was made at once, and nothing was added later. Load less of it, or keep it outside of the heap.`,
      confidence: 'possible',
      refutedBy: tableRefutation,
    },
  ];
}

/**
 * Whether the earlier suspect is about the same node, or about one in the same chain of dominators with about the same bytes.
 */
function saysItAlready(heap: Heap, earlier: HeapSuspect, later: HeapSuspect): boolean {
  if (!earlier.node || !later.node) return false;
  const ratio = earlier.retainedSizeBytes / later.retainedSizeBytes;
  if (earlier.node.id === later.node.id && ratio >= 0.6) return true;
  if (ratio < 0.6 || ratio > 1.6) return false;
  const a = ordinalOf(heap, earlier.node);
  const b = ordinalOf(heap, later.node);
  return isAbove(heap, a, b) || isAbove(heap, b, a);
}

function isAbove(heap: Heap, above: number, below: number): boolean {
  for (let at = below, step = 0; at !== heap.root && step < 10_000; step++) {
    at = heap.tree.dominator[at]!;
    if (at === above) return true;
  }
  return false;
}
