/**
 * Whether objects are spread over a deep structure: a trie, the syntax trees of a compiler. However many they are, nothing
 * collects them one by one: the ways to them part only below. A crowd's part at its holder, or it is a chain.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';

const mostSamples = 64;
/** Of the samples, how many ways lead out of the holder of a crowd at least. Some lists have a crowd together. */
const leastWays = 0.4;
/** Objects between the holder and a sample; shards, and wrappers of what was added, are fewer. */
const fewestBetween = 5;
/** So many of them for each way, of which there are fewer than a crowd's: the statements of a program, not requests. */
const leastPerWay = 20;
const mostWays = 1000;
const nearlyAll = 0.8;
/** Objects of the class above each other: more are a chain. */
const mostLevels = 48;

/** @param holder what holds nearly all of these objects of one class; it may be one of them. */
export function isDeepStructure(heap: Heap, holder: number, members: ArrayLike<number>): boolean {
  const step = Math.ceil(members.length / mostSamples) || 1;
  const ways = new Set<number>();
  const lengths: number[] = [];
  let samples = 0;
  for (let at = 0; at < members.length; at += step, samples++) {
    const way = wayFrom(heap, holder, members[at]!);
    if (way === undefined) continue;
    if (way.levels > mostLevels) return false;
    ways.add(way.first);
    lengths.push(way.between);
  }
  lengths.sort((a, b) => a - b);
  return (
    lengths.length >= samples * nearlyAll &&
    (ways.size < samples * leastWays || areFewWays(heap, holder, members.length)) &&
    lengths[lengths.length >> 1]! >= fewestBetween
  );
}

function areFewWays(heap: Heap, holder: number, members: number): boolean {
  const { type } = heap.snapshot.nodes;
  let ways = 0;
  const open = [holder];
  for (let at = open.pop(); at !== undefined && ways < mostWays; at = open.pop())
    for (const child of heap.dominated.of(at))
      if (type[child] === NodeType.array) open.push(child);
      else if (type[child] === NodeType.object || type[child] === NodeType.closure) ways++;
  return ways < mostWays && members >= ways * leastPerWay;
}

interface Way {
  /** The first object on the way from the holder to a node. */
  first: number;
  /** How many objects there are, and of these, how many of the node's class. */
  between: number;
  levels: number;
}

/** By the dominator tree; undefined if the holder does not dominate the node. */
function wayFrom({ tree, classes, root, snapshot }: Heap, holder: number, node: number): Way | undefined {
  const { type } = snapshot.nodes;
  const way: Way = { first: node, between: 0, levels: 0 };
  for (let at = node; at !== holder && way.levels <= mostLevels; ) {
    at = tree.dominator[at]!;
    if (at === root) return undefined;
    if (at === holder || (type[at] !== NodeType.object && type[at] !== NodeType.closure)) continue;
    way.first = at;
    way.between++;
    if (classes.of[at] === classes.of[node]) way.levels++;
  }
  return way;
}
