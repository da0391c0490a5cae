/**
 * Strings that the heap contains more than once, and the cost of the copies. Equal names mean equal strings up to the 1,024
 * characters that V8 writes; longer strings are distinguished by size. Sliced and concatenated strings are ignored, since
 * they share memory.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapStringRow } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { NearestHolders } from './nearest-holders.ts';
import { stringText } from './node-rows.ts';

export interface StringSums {
  /** Number of all strings, and their bytes. */
  count: number;
  selfSizeBytes: number;
  wastedBytes: number;
  /** The part of the wasted bytes in strings that V8 truncates: they may differ after that. */
  unsureBytes: number;
  rows: HeapStringRow[];
}

/** Length in the file: 1,024 characters and two quotes. */
const longestRaw = 1026;

/** Strings with the same name and size. */
interface Copies {
  node: number;
  count: number;
  bytes: number;
  size: number;
  /** The same name with another size. */
  next: Copies | undefined;
}

interface StringCopies {
  repeated: Copies[];
  strings: number;
  bytes: number;
}

/** Larger sizes are treated as one: hardly any program has many strings of that length with the same beginning. */
const largestSize = 0xfffff;

/** @param withHolders whether the rows say who holds the copies, which takes the references to them. */
export function computeDuplicateStrings(heap: Heap, limit: number, withHolders = false): StringSums {
  const { name } = heap.snapshot.nodes;
  const { strings: table } = heap.snapshot;
  const { repeated, strings, bytes } = copiesIn(heap);
  const waste = (group: Copies): number => group.bytes - group.size;
  const isUnsure = ({ node }: Copies): boolean => table.rawLength(name[node]!) >= longestRaw;
  const wasted = (of: typeof repeated): number => of.reduce((sum, group) => sum + waste(group), 0);
  const listed = repeated.sort((a, b) => waste(b) - waste(a)).slice(0, limit);
  const holders = withHolders ? findHolders(heap, listed) : undefined;
  return {
    count: strings,
    selfSizeBytes: bytes,
    wastedBytes: wasted(repeated),
    unsureBytes: wasted(repeated.filter(isUnsure)),
    rows: listed.map((group) => ({
      value: stringText(heap, group.node),
      count: group.count,
      selfSizeBytes: group.bytes,
      wastedBytes: waste(group),
      id: heap.snapshot.nodes.id.get(group.node),
      ...(holders ? { holders: holders.get(group)!.rows() } : {}),
    })),
  };
}

function findHolders(heap: Heap, groups: readonly Copies[]): Map<Copies, NearestHolders> {
  const { type, name, selfSize, count } = heap.snapshot.nodes;
  const holders = new Map(groups.map((group) => [group, new NearestHolders(heap)]));
  const byName = new Map<number, Copies[]>();
  for (const group of groups) {
    const same = byName.get(name[group.node]!);
    if (same) same.push(group);
    else byName.set(name[group.node]!, [group]);
  }
  for (let node = 0; node < count; node++) {
    const named = type[node] === NodeType.string ? byName.get(name[node]!) : undefined;
    const group = named?.find(({ size }) => isSameSize(size, selfSize.get(node)));
    if (group) holders.get(group)!.add(node);
  }
  return holders;
}

const isSameSize = (a: number, b: number): boolean =>
  b > 0 && Math.min(a, largestSize) === Math.min(b, largestSize);

const known = new WeakMap<Heap, StringCopies>();

/** Kept, since a suspect asks a second time for who holds the worst. */
function copiesIn(heap: Heap): StringCopies {
  const found = known.get(heap) ?? findCopies(heap);
  known.set(heap, found);
  return found;
}

/** Most names belong to a single string; groups are only created for the others. */
function findCopies(heap: Heap): StringCopies {
  const { type, name, selfSize, count } = heap.snapshot.nodes;
  const times = new Uint32Array(heap.snapshot.strings.count);
  let strings = 0;
  let bytes = 0;
  for (let node = 0; node < count; node++) {
    if (type[node] !== NodeType.string) continue;
    const size = selfSize.get(node);
    if (size === 0) continue;
    strings++;
    bytes += size;
    times[name[node]!]!++;
  }
  const groups: Copies[] = [];
  const firstOf = new Map<number, Copies>();
  for (let node = 0; node < count; node++) {
    if (type[node] !== NodeType.string || times[name[node]!]! < 2) continue;
    const size = selfSize.get(node);
    if (size === 0) continue;
    const first = firstOf.get(name[node]!);
    let group = first;
    while (group && !isSameSize(group.size, size)) group = group.next;
    if (group) {
      group.count++;
      group.bytes += size;
      continue;
    }
    group = { node, count: 1, bytes: size, size, next: first };
    firstOf.set(name[node]!, group);
    groups.push(group);
  }
  return { repeated: groups.filter((group) => group.count > 1), strings, bytes };
}
