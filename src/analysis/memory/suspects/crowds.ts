/**
 * Whether a container holds a crowd: so many things of one kind that something adds one again and again. A snapshot has no
 * time in it, so a single one can't show growth; but what a program defines (schemas, routes, models, templates, locales) is
 * counted in tens or hundreds, while what it does (requests, messages, ids) is counted in thousands.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { findChild, isStringType, stringText } from '../questions/node-rows.ts';
import { tableKeys, tableSlotsOf } from '../questions/tables.ts';
import { isHeadOfChain } from './accumulation.ts';
import { deepestHolder } from './common-holder.ts';
import { limitOf } from './limits.ts';
import { isMadeAtOnce, isTable, lastElement } from './made-at-once.ts';
import { isScope } from './scope-variable.ts';

const fewest = 1000;
/** Of things that act by themselves (connections, streams, loggers), or that are large. */
const fewestLive = 200;
const fewestLarge = 100;
const largeBytes = 16 * 1024;
/** Of windows, memories, workers, each as large as a program. */
const fewestWorlds = 8;
const worldBytes = 64 * 1024;

const longestWord = 40;

/** A crowd accounts for at least so much of what its container retains. */
const leastShare = 0.4;
/** A world in a wrapper (a JSDOM and its window) is most of what the wrapper retains. */
const mainShare = 0.5;

const mostSamples = 64;
/** Of more references some are looked at, which tells as much. */
const mostLooked = 10_000;
/** More of them change nothing. */
const mostListed = 100_000;
/** Fewer lists may have one length by chance, and shorter ones are pairs, points and the like. */
const fewestLists = 8;
const shortestLimit = 10;
const nearlyAll = 0.8;

const known = new WeakMap<Heap, Map<number, boolean>>();

/** Kept, since several rules find the same containers, and each answer walks over all that is in one. */
export function isCrowd(heap: Heap, container: number): boolean {
  const answers = known.get(heap) ?? new Map<number, boolean>();
  known.set(heap, answers);
  const answer = answers.get(container) ?? findCrowd(heap, container);
  answers.set(container, answer);
  return answer;
}

function findCrowd(heap: Heap, container: number): boolean {
  if (isHeadOfChain(heap, container)) return true;
  if (hasWordsAsKeys(heap, container)) return false;
  const least = heap.retained[container]! * leastShare;
  if (holdsCrowd(heap, container, least)) return true;
  const holder = deepestHolder(heap, container);
  if (holder === container || isTable(heap, holder) || limitOf(heap, holder) !== undefined) return false;
  return holdsCrowd(heap, holder, least);
}

function holdsCrowd(heap: Heap, holder: number, leastBytes: number): boolean {
  const contents = referredTo(heap, holder);
  const isOne = (of: Referred): boolean => {
    const [all, ...kinds] = byKind(heap, of);
    // What several of them share is retained by none of them. It counts for the kind that nearly all are of.
    const shared = Math.max(0, heap.retained[holder]! - all!.bytes);
    return [all!, ...kinds].some(({ nodes, bytes }) => {
      const isMost = nodes.length >= all!.nodes.length * nearlyAll;
      return bytes + (isMost ? shared : 0) >= leastBytes && isCrowdOf(heap, nodes);
    });
  };
  return isOne(contents) || isOne(ofLists(heap, contents));
}

/** @param nodes objects of one kind. */
export function isCrowdOf(heap: Heap, nodes: ArrayLike<number>): boolean {
  const samples = sampleOf(nodes);
  const sizes = samples.map((node) => heap.retained[node]!).sort((a, b) => a - b);
  const bytes = sizes[sizes.length >> 1] ?? 0;
  if (isCodeOfOneFile(heap, samples)) return false;
  if (nodes.length >= fewest) return true;
  if (nodes.length >= fewestLarge && bytes >= largeBytes && !samples.some((node) => hasOwnCode(heap, node)))
    return true;
  const least = bytes >= worldBytes ? fewestWorlds : fewestLive;
  return (
    nodes.length >= least &&
    mostOf(samples, (node) => isLive(heap, node) || isLive(heap, mainPart(heap, node)))
  );
}

interface Contents {
  nodes: number[];
  /** What they retain; for all of a container's, with their keys. */
  bytes: number;
}

/** Each class of them, and all of them, since plain objects have many classes. */
function byKind(heap: Heap, { strings, others, step }: Referred): Contents[] {
  // Keys only count as contents if nothing else is there.
  const nodes = others.length * 2 >= strings.length ? others : strings;
  const byClass = new Map<number, number[]>();
  let last: { kind: number; alike: number[] } | undefined;
  for (const node of nodes) {
    const kind = heap.classes.of[node]!;
    if (last?.kind !== kind) {
      const alike = byClass.get(kind) ?? [];
      byClass.set(kind, alike);
      last = { kind, alike };
    }
    last.alike.push(node);
  }
  return [
    { nodes, bytes: (bytesOf(heap, strings) + bytesOf(heap, others)) * step },
    ...[...byClass.values()].map((alike) => ({ nodes: alike, bytes: bytesOf(heap, alike) * step })),
  ];
}

function bytesOf({ retained }: Heap, nodes: readonly number[]): number {
  let sum = 0;
  for (const node of nodes) sum += retained[node]!;
  return sum;
}

interface Referred {
  strings: number[];
  others: number[];
  /** One of so many is listed. */
  step: number;
}

/** A few lists, such as one for each user or topic, hold a crowd together, unless they were made at once or kept at a limit. */
function ofLists(heap: Heap, { others }: Referred): Referred {
  const all: Referred = { strings: [], others: [], step: 1 };
  const lists = others.filter((node) => heap.className(node) === 'Array' && !isMadeAtOnce(heap, node));
  if (areOfOneLength(heap, lists)) return all;
  for (const list of lists) {
    for (const node of referredTo(heap, list).others) all.others.push(node);
    if (all.others.length > mostListed) break;
  }
  return all;
}

/** The oldest is taken out of each when it is full: the last messages of a connection, the last durations of a route. */
function areOfOneLength(heap: Heap, lists: readonly number[]): boolean {
  if (lists.length < fewestLists) return false;
  const counts = new Map<number, number>();
  for (const list of lists) {
    const length = lastElement(heap, list) + 1;
    if (length >= shortestLimit) counts.set(length, (counts.get(length) ?? 0) + 1);
  }
  return [...counts.values()].some((count) => count >= lists.length * nearlyAll);
}

/** By its own edges and those of V8's tables in it. */
export function referredTo(heap: Heap, container: number): Referred {
  const { snapshot } = heap;
  const { firstEdge, type } = snapshot.nodes;
  const isSeen = marksOf(heap);
  isSeen[container] = 1;
  const seen = [container];
  const found: Referred = { strings: [], others: [], step: 1 };
  const open = [container];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const step = stepOver(firstEdge[at + 1]! - firstEdge[at]!);
    found.step = Math.max(found.step, step);
    // An array's elements are listed as its own.
    const listsAll = at !== container || step === 1;
    for (let edge = firstEdge[at]!; edge < firstEdge[at + 1]!; edge += step) {
      const target = snapshot.edgeTarget(edge);
      const kind = snapshot.edgeType(edge);
      if (kind === EdgeType.weak || isSeen[target] || (!listsAll && kind === EdgeType.internal)) continue;
      isSeen[target] = 1;
      seen.push(target);
      if (isStringType(type[target]!)) found.strings.push(target);
      else if (
        type[target] === NodeType.array ||
        (type[target] === NodeType.hidden && !isScope(heap, target))
      )
        open.push(target);
      else if (isContent(heap, target)) found.others.push(target);
    }
  }
  for (const node of seen) isSeen[node] = 0;
  return found;
}

/** Odd, since in a Map's table keys and values alternate. */
const stepOver = (edges: number): number => (edges <= mostLooked ? 1 : Math.ceil(edges / mostLooked) | 1);

const marks = new WeakMap<Heap, Uint8Array>();

/** By ordinal, all 0. A container may have many lists, so that they are not made for each. */
function marksOf(heap: Heap): Uint8Array {
  const known = marks.get(heap) ?? new Uint8Array(heap.nodeCount);
  marks.set(heap, known);
  return known;
}

const contentTypes: ReadonlySet<number> = new Set([
  NodeType.object,
  NodeType.closure,
  NodeType.native,
  NodeType.regexp,
  NodeType.symbol,
  NodeType.string,
  NodeType.concatenatedString,
  NodeType.slicedString,
]);

const isContent = (heap: Heap, node: number): boolean =>
  contentTypes.has(heap.snapshot.nodes.type[node]!) || isScope(heap, node);

export function sampleOf(nodes: ArrayLike<number>): number[] {
  const step = Math.ceil(nodes.length / mostSamples);
  return Array.from({ length: Math.ceil(nodes.length / step) || 0 }, (_, at) => nodes[at * step]!);
}

const mostOf = (samples: readonly number[], is: (node: number) => boolean): boolean =>
  samples.filter(is).length >= samples.length * nearlyAll;

/**
 * Functions that are all written at different places of one file are its program. A crowd of functions (listeners) is written
 * at one place, or compiled again and again, each as a file of its own.
 */
function isCodeOfOneFile(heap: Heap, samples: readonly number[]): boolean {
  const functions = samples.filter((node) => heap.snapshot.nodes.type[node] === NodeType.closure);
  if (functions.length < samples.length * nearlyAll) return false;
  const places = new Set<string>();
  const files = new Set<number>();
  for (const node of functions) {
    const place = heap.snapshot.location(node);
    if (!place) continue;
    places.add(`${place.scriptId} ${place.line} ${place.column}`);
    files.add(place.scriptId);
  }
  return places.size >= samples.length / 2 && files.size * 2 < places.size;
}

/**
 * A definition, such as a schema or a model, has functions among its own properties, or a short list of objects that have some
 * (the handlers of a route).
 */
function hasOwnCode(heap: Heap, node: number): boolean {
  if (heap.snapshot.nodes.type[node] === NodeType.closure) return true;
  return someProperty(heap, node, (target) => isCode(heap, target) || isListOfCode(heap, target));
}

const isCode = ({ snapshot }: Heap, node: number): boolean => snapshot.nodes.type[node] === NodeType.closure;

const longestDefinition = 32;

function isListOfCode(heap: Heap, node: number): boolean {
  const { snapshot } = heap;
  const { firstEdge, type } = snapshot.nodes;
  if (type[node] !== NodeType.object || snapshot.nodeName(node) !== 'Array') return false;
  const end = Math.min(firstEdge[node + 1]!, firstEdge[node]! + longestDefinition);
  let members = 0;
  for (let edge = firstEdge[node]!; edge < end; edge++) {
    if (snapshot.edgeType(edge) !== EdgeType.element) continue;
    members++;
    if (!someProperty(heap, snapshot.edgeTarget(edge), (target) => isCode(heap, target))) return false;
  }
  return members > 0;
}

/** Whether one of its own properties leads to such a node. */
function someProperty({ snapshot }: Heap, node: number, is: (target: number) => boolean): boolean {
  const { firstEdge } = snapshot.nodes;
  for (let edge = firstEdge[node]!; edge < firstEdge[node + 1]!; edge++)
    if (
      snapshot.edgeType(edge) === EdgeType.property &&
      is(snapshot.edgeTarget(edge)) &&
      snapshot.edgeName(edge) !== 'constructor'
    )
      return true;
  return false;
}

const liveClasses =
  /^(?:Promise|Timeout|Immediate|Worker|MessagePort|Window|Memory|Instance|SharedArrayBuffer|system \/ NativeContext)$|Socket$|WebAssembly/;

/** What retains most of the node's bytes, or the node itself. */
function mainPart({ retained, dominated }: Heap, node: number): number {
  for (const child of dominated.of(node)) if (retained[child]! >= retained[node]! * mainShare) return child;
  return node;
}

/** Emitters, streams, connections, promises, worlds of their own. A list, which may be long, is none. */
export function isLive(heap: Heap, node: number): boolean {
  if (heap.snapshot.nodeName(node) === 'Array') return false;
  return (
    liveClasses.test(heap.className(node)) ||
    ['_events', '_handle', '_globalObject'].some(
      (name) => findChild(heap, node, name, EdgeType.property) >= 0,
    )
  );
}

/**
 * Its keys are a vocabulary, which is as large as a language. What is added for each event has a number, an address or a hash
 * in its key.
 */
function hasWordsAsKeys(heap: Heap, container: number): boolean {
  const { snapshot } = heap;
  const isMap = tableSlotsOf(heap, container) === 3;
  const { keys, step } = isMap ? stringKeys(heap, container) : ownProperties(heap, container);
  if (keys.length * step < fewest) return false;
  const textOf = (key: number): string =>
    isMap ? stringText(heap, key, longestWord + 1) : snapshot.edgeName(key);
  const samples = sampleOf(keys);
  return samples.filter((key) => isWord(textOf(key))).length >= samples.length * nearlyAll;
}

const isWord = (key: string): boolean => key.length <= longestWord && /^[^\p{N}/@]+$/u.test(key);

interface Keys {
  keys: number[];
  /** One of so many is listed. */
  step: number;
}

function stringKeys(heap: Heap, map: number): Keys {
  const { firstEdge, type } = heap.snapshot.nodes;
  const table = findChild(heap, map, 'table', EdgeType.internal);
  const step = stepOver(firstEdge[table + 1]! - firstEdge[table]!);
  return { keys: tableKeys(heap, map, step).filter((key) => isStringType(type[key]!)), step };
}

/** The edges with a name, which is the key in a dictionary. */
function ownProperties({ snapshot }: Heap, container: number): Keys {
  const { firstEdge, type } = snapshot.nodes;
  const step = stepOver(firstEdge[container + 1]! - firstEdge[container]!);
  const keys: number[] = [];
  if (type[container] !== NodeType.object) return { keys, step };
  for (let edge = firstEdge[container]!; edge < firstEdge[container + 1]!; edge += step)
    if (snapshot.edgeType(edge) === EdgeType.property) keys.push(edge);
  return { keys, step };
}
