/**
 * Strings that the heap contains more than once, and the cost of the copies. Equal names mean equal strings up to the 1,024
 * characters that V8 writes; longer strings are distinguished by size. Sliced and concatenated strings are ignored, since
 * they share memory.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapStringRow } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { largestRows } from './largest.ts';
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
  /** By row of `repeated`. */
  wastes: Float64Array;
  sums: Omit<StringSums, 'rows'>;
}

/** Larger sizes are treated as one: hardly any program has many strings of that length with the same beginning. */
const largestSize = 0xfffff;

/**
 * @param withHolders whether the rows say who holds the copies, which takes the references to them.
 * @param counts by the number of copies and the size of each: which texts count. All, unless given.
 */
export function computeDuplicateStrings(
  heap: Heap,
  limit: number,
  withHolders = false,
  counts?: (copies: number, size: number) => boolean,
): StringSums {
  const { repeated, wastes, sums } = counts ? someCopiesIn(heap, counts) : copiesIn(heap);
  const listed = largestRows(wastes, limit, () => true);
  const groups = listed.map((row) => repeated[row]!);
  const holders = withHolders ? findHolders(heap, groups) : undefined;
  return {
    ...sums,
    rows: groups.map((group, at) => ({
      value: stringText(heap, group.node),
      count: group.count,
      selfSizeBytes: group.bytes,
      wastedBytes: wastes[listed[at]!]!,
      id: heap.snapshot.nodes.id.get(group.node),
      ...(holders ? { holders: holders.get(group)!.rows() } : {}),
    })),
  };
}

function findHolders(heap: Heap, groups: readonly Copies[]): Map<Copies, NearestHolders> {
  const { type, name, selfSize, count } = heap.snapshot.nodes;
  const holders = new Map(groups.map((group) => [group, new NearestHolders(heap)]));
  const byName = new Map<number, Copies[]>();
  const isWanted = new Uint8Array(heap.snapshot.strings.count);
  for (const group of groups) {
    isWanted[name[group.node]!] = 1;
    const same = byName.get(name[group.node]!);
    if (same) same.push(group);
    else byName.set(name[group.node]!, [group]);
  }
  for (let node = 0; node < count; node++) {
    if (type[node] !== NodeType.string || !isWanted[name[node]!]) continue;
    const group = byName.get(name[node]!)!.find(({ size }) => isSameSize(size, selfSize.get(node)));
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

function someCopiesIn(heap: Heap, counts: (copies: number, size: number) => boolean): StringCopies {
  const { repeated, sums } = copiesIn(heap);
  const some = repeated.filter(({ count, size }) => counts(count, size));
  return { repeated: some, ...wasteOf(heap, some, sums.count, sums.selfSizeBytes) };
}

/** Most names belong to a single string; groups are only created for the others. */
function findCopies(heap: Heap): StringCopies {
  const { type, name, selfSize, count } = heap.snapshot.nodes;
  /** By name: how many strings have it; once they have a group, the first one's index, as -1, -2, … */
  const times = new Int32Array(heap.snapshot.strings.count);
  let strings = 0;
  let bytes = 0;
  for (let node = 0; node < count; node++) {
    if (type[node] !== NodeType.string || selfSize.narrow[node] === 0) continue;
    strings++;
    bytes += selfSize.get(node);
    times[name[node]!]!++;
  }
  const groups: Copies[] = [];
  for (let node = 0; node < count; node++) {
    if (type[node] !== NodeType.string || selfSize.narrow[node] === 0) continue;
    const known = times[name[node]!]!;
    if (known === 1) continue;
    const size = selfSize.get(node);
    const first = known < 0 ? groups[-known - 1] : undefined;
    let group = first;
    while (group && !isSameSize(group.size, size)) group = group.next;
    if (group) {
      group.count++;
      group.bytes += size;
      continue;
    }
    groups.push({ node, count: 1, bytes: size, size, next: first });
    times[name[node]!] = -groups.length;
  }
  const repeated = groups.filter((group) => group.count > 1);
  return { repeated, ...wasteOf(heap, repeated, strings, bytes) };
}

function wasteOf(
  { snapshot }: Heap,
  repeated: readonly Copies[],
  count: number,
  selfSizeBytes: number,
): Omit<StringCopies, 'repeated'> {
  const wastes = new Float64Array(repeated.length);
  let [wastedBytes, unsureBytes] = [0, 0];
  for (const [row, { node, bytes, size }] of repeated.entries()) {
    wastes[row] = bytes - size;
    wastedBytes += bytes - size;
    if (snapshot.strings.rawLength(snapshot.nodes.name[node]!) >= longestRaw) unsureBytes += bytes - size;
  }
  return { wastes, sums: { count, selfSizeBytes, wastedBytes, unsureBytes } };
}
