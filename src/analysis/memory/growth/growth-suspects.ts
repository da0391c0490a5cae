/**
 * Converts growth to suspects: the containers that hold more in each snapshot, by how much, what was added, and what would
 * stop it. Growth at every step comes before growth at some steps, which caches also show while they fill; V8's own tables
 * come last, and its code is omitted.
 */
import type { HeapGrownNode, HeapSuspect } from '../../../model/heap.ts';
import { formatBytes, formatCount } from '../../../model/quantities.ts';
import { pathTail } from '../questions/paths.ts';
import type { Growth } from './growth.ts';

/** Any program grows by this much between two snapshots. */
const leastBytes = 64 * 1024;
/** Share of the largest growth. */
const leastShare = 0.01;

/** V8 compiles functions that run often and keeps what it learns; that growth ends by itself. */
const codeTypes: ReadonlySet<string> = new Set(['code', 'object shape']);

const matched = 'matched by class and retaining path';

export function growthSuspects(growth: Growth, limit: number): HeapSuspect[] {
  const { grown, snapshots, matchedBy, hasLastingIds } = growth;
  const totalBytes = snapshots.at(-1)!.totalBytes;
  const most = grown.reduce((bytes, row) => Math.max(bytes, row.growthBytes), 0);
  return grown
    .filter(
      ({ node, growthBytes }) =>
        !codeTypes.has(node.type) && growthBytes >= Math.max(leastBytes, most * leastShare),
    )
    .filter((row) => !hasStopped(row) && !isFillingUp(row, totalBytes))
    .sort((a, b) => rank(a) - rank(b) || b.growthBytes - a.growthBytes)
    .slice(0, limit)
    .map((row) =>
      suspectOf(
        row,
        totalBytes,
        matchedBy === 'id'
          ? undefined
          : hasLastingIds
            ? `two processes: ${matched}`
            : `read from memory, where objects have no ids: ${matched}`,
      ),
    );
}

/** A container with its own limit grows until it is full; from this share of the heap on the limit may be too high. */
const largeForBounded = 0.5;

function isFillingUp({ limit, beforeBytes, growthBytes }: HeapGrownNode, totalBytes: number): boolean {
  return limit !== undefined && beforeBytes + growthBytes < totalBytes * largeForBounded;
}

const rank = (row: HeapGrownNode): number =>
  4 * Number(isEnginePart(row)) + 2 * Number(!isSteady(row)) + Number(hasNothingNew(row));

/** Nothing was added to it: it became the only owner of existing objects, or something below it grew. */
const hasNothingNew = ({ heldBytes, added }: HeapGrownNode): boolean =>
  heldBytes !== undefined && added === undefined;

/** Tables and the like, which belong to V8. */
function isEnginePart({ node }: HeapGrownNode): boolean {
  return node.type !== 'object' && node.type !== 'closure' && node.type !== 'native' && !isText(node);
}

const isText = ({ type }: HeapGrownNode['node']): boolean => /string$/.test(type);

/** Grew at every step; two snapshots are one step. */
function isSteady(row: HeapGrownNode): boolean {
  return stepsOf(row).every((step) => step > 0);
}

/** The last step is negligible compared to those before: it was being filled. */
function hasStopped(row: HeapGrownNode): boolean {
  const steps = stepsOf(row);
  const last = steps.pop()!;
  const before = steps.reduce((sum, step) => sum + step, 0);
  return steps.length > 0 && last < (before / steps.length) * 0.1;
}

function stepsOf({ heldBytes, growthBytes }: HeapGrownNode): number[] {
  return heldBytes ? heldBytes.slice(1).map((bytes, at) => bytes - heldBytes[at]!) : [growthBytes];
}

/** @param byPlace how objects were matched, if not by their ids. */
function suspectOf(row: HeapGrownNode, totalBytes: number, byPlace: string | undefined): HeapSuspect {
  const { node, path, count, beforeBytes, growthBytes, added, heldBytes } = row;
  const afterBytes = beforeBytes + growthBytes;
  const steps = stepsOf(row);
  const perStep = steps.length > 1 ? `, ${formatBytes(growthBytes / steps.length)} a step` : '';
  const one = isText(node) ? 'The text' : node.class;
  const where = count > 1 ? `${formatCount(count, 'object')} at ${path}` : `${one} at ${path}`;
  const what =
    added && !isText(node)
      ? `: ${formatCount(added.count, 'new object')} of class ${added.class} (${formatBytes(added.retainedSizeBytes)})`
      : '';
  const isSure = byPlace === undefined && steps.length > 1 && isSteady(row);
  return {
    rule: 'growth',
    title: `+${formatBytes(growthBytes)} ${isAmongRoots(path) ? `in ${node.class} objects ` : ''}at ${pathTail(path)}`,
    sentence: `${where} grew from ${formatBytes(beforeBytes)} to ${formatBytes(afterBytes)}${perStep}${what}. ${remedy(row)}`,
    confidence: isSure ? 'likely' : 'possible',
    retainedSizeBytes: afterBytes,
    share: afterBytes / totalBytes,
    evidence: [
      ...(heldBytes && heldBytes.length > 2
        ? [`held in each snapshot: ${heldBytes.map(formatBytes).join(', ')}`]
        : []),
      byPlace ?? 'the same objects, by their ids, are in both snapshots',
    ],
    refutedBy: isSteady(row)
      ? 'It stops growing in a later snapshot, with as much work done between.'
      : 'It did not grow at every step: a cache that has been filled looks like this.',
    node,
    path,
    ...(added?.source ? { source: added.source } : {}),
  };
}

/** Held by handles of Node's C++ code, which have no names: the class says more. */
const isAmongRoots = (path: string): boolean => /^\([^()]+\)(?:\{[^{}]*\})?$/.test(path);

function remedy({ node, path }: HeapGrownNode): string {
  if (path.endsWith('{public_symbol_table}'))
    return 'Use Symbol() for what is created again and again: V8 never frees what Symbol.for created.';
  // What a listener closes over may grow too: then the path leads through its context.
  if (/(?:_events|listeners|kEvents)(?!.*\{context\})/i.test(path))
    return 'Remove each listener when what it was added for is done.';
  if (/Map$|Set$|Cache/i.test(node.class))
    return 'Delete entries when they are done with, or give it a limit.';
  if (node.class === 'Array') return 'Take entries out when they are done with, or keep only the last ones.';
  if (isText(node)) return 'Write it somewhere else, or keep only its end.';
  if (/^Timeout|^Immediate/.test(node.class)) return 'Clear the timer when it is no longer needed.';
  return 'Release what it holds when it is done with.';
}
