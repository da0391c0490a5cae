/**
 * Finds the objects that hold what has grown between two heaps of a process. A holder is identified by its path: V8 changes
 * the id of an object that the collector moves (seen on Node 20 and 22), so that a leak would look like a new object.
 */
import { computeDigest, computeGrowth, type HeapDigest } from '../../analysis/memory/growth/growth.ts';
import type { Heap } from '../../analysis/memory/heap.ts';
import { largestRows } from '../../analysis/memory/questions/largest.ts';
import { generalPath } from '../../analysis/memory/questions/paths.ts';
import { NodeType } from '../../formats/heapsnapshot/index.ts';
import type { CiLeak, CiLeakSuspect } from '../../model/ci-summary.ts';
import { shortenPath } from './summarize.ts';

const mostSuspects = 5;
/** How many of the objects that retain most are named by their path. */
const mostPlaces = 400;
const leastBytes = 64 * 1024;
/** Minimum share of the largest growth. */
const leastShare = 0.05;
/** If a single object below explains this share of the growth, it is reported instead. */
const passedOnShare = 0.8;

export interface EarlyHeap {
  digest: HeapDigest;
  retainedAt: Map<string, number>;
}

export function describeEarly(heap: Heap): EarlyHeap {
  const retainedAt = new Map<string, number>();
  for (const node of largestOf(heap)) {
    const path = generalPath(heap, node);
    retainedAt.set(path, (retainedAt.get(path) ?? 0) + heap.retained[node]!);
  }
  return { digest: computeDigest(heap), retainedAt };
}

export function nameGrowth(early: EarlyHeap, heap: Heap): Pick<CiLeak, 'suspects' | 'classes'> {
  const { classes } = computeGrowth([early.digest, computeDigest(heap)], heap, 0);
  return {
    suspects: findHolders(early, heap),
    // V8's internal kinds of objects have names in parentheses, and parts of objects names in braces.
    classes: classes
      .filter(({ class: name, countGrowth }) => countGrowth > 0 && !/^[({]|^system \//.test(name))
      .slice(0, mostSuspects)
      .map(({ class: name, countGrowth, sizeGrowthBytes }) => ({
        name,
        countGrowth,
        bytesGrowth: sizeGrowthBytes,
      })),
  };
}

function findHolders({ retainedAt }: EarlyHeap, heap: Heap): CiLeakSuspect[] {
  const places = new Map<string, CiLeakSuspect>();
  for (const node of largestOf(heap)) {
    const path = generalPath(heap, node);
    const place = places.get(path) ?? {
      name: heap.className(node),
      path,
      count: 0,
      bytesGrowth: -(retainedAt.get(path) ?? 0),
    };
    place.count++;
    place.bytesGrowth += heap.retained[node]!;
    places.set(path, place);
  }
  const grown = [...places.values()].filter(
    ({ path, name, bytesGrowth }) => bytesGrowth >= leastBytes && !isOurs(path, name),
  );
  return grown
    .filter((one) => !grown.some((other) => isPassedOn(one, other) || isElementOf(one, other)))
    .sort((a, b) => b.bytesGrowth - a.bytesGrowth)
    .filter((one, _, [most]) => one.bytesGrowth >= (most?.bytesGrowth ?? 0) * leastShare)
    .slice(0, mostSuspects)
    .map((one) => ({ ...one, path: shortenHolder(one.path) }));
}

/**
 * Whether a single object below `one` explains most of its growth, so that `one` is not the actual holder. If its many
 * elements do, it is.
 */
function isPassedOn(one: CiLeakSuspect, other: CiLeakSuspect): boolean {
  const rest = restOf(other.path, one.path);
  return rest !== undefined && !element.test(rest) && other.bytesGrowth >= one.bytesGrowth * passedOnShare;
}

function isElementOf(one: CiLeakSuspect, holder: CiLeakSuspect): boolean {
  const rest = restOf(one.path, holder.path);
  return rest !== undefined && element.test(rest) && one.bytesGrowth <= holder.bytesGrowth;
}

/** An element of a list, a Map or a Set. */
const element = /^(?:\[\*\]|\.get\(…\)|\{table\})/;

function restOf(path: string, beginning: string): string | undefined {
  return path !== beginning && path.startsWith(beginning) ? path.slice(beginning.length) : undefined;
}

/** Objects of the program. V8's tables and the scopes of closures are represented by their owners. */
function largestOf(heap: Heap): number[] {
  const { nodes } = heap.snapshot;
  return largestRows(heap.retained, mostPlaces, (node) => {
    const type = nodes.type[node];
    return (
      heap.retained[node]! >= leastBytes &&
      (type === NodeType.object || type === NodeType.closure) &&
      !/^(?:global|Window|system )/.test(heap.snapshot.nodeName(node))
    );
  });
}

/** Objects of the recorder, and what the first snapshot has left in Node's queues. */
function isOurs(path: string, className: string): boolean {
  if (/^HeapSnapshotStream$|^MemoryWatch$/.test(className)) return true;
  if (cachedModule.test(path)) return false;
  return /<symbol agentdump\.|HeapSnapshotStream|queueMicrotask\{context\}\.queue\b/.test(path);
}

const cachedModule = /^.*\.cache\["([^"]+)"\]\.exports/;
const childModule = /^.*\.children\[\*\]\.exports/;

/** For objects of a module the file is shown instead of the path through the module cache. */
function shortenHolder(path: string): string {
  const [way, file] = cachedModule.exec(path) ?? [];
  if (way !== undefined && file !== undefined)
    return `${shortenPath(file)}: exports${path.slice(way.length)}`;
  return path.replace(childModule, 'a module’s exports');
}
