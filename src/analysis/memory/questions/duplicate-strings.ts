/**
 * Strings that the heap holds more than once, and what the copies cost. Equal names mean equal strings up to the 1,024
 * characters that V8 writes; longer ones are told apart by their size. Slices and ropes are left out: they share.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { HeapStringRow } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { stringText } from './node-rows.ts';

export interface StringSums {
  /** Strings in all, and their bytes. */
  count: number;
  selfSizeBytes: number;
  wastedBytes: number;
  /** Of those, in strings as long as V8 writes: they may differ after it. */
  unsureBytes: number;
  rows: HeapStringRow[];
}

/** As they stand in the file: 1,024 characters and two quotes. */
const longestRaw = 1026;

export function computeDuplicateStrings(heap: Heap, limit: number): StringSums {
  const { type, name, count } = heap.snapshot.nodes;
  const groups = new Map<number, { node: number; count: number; bytes: number; size: number }>();
  let strings = 0;
  let bytes = 0;
  for (let node = 0; node < count; node++) {
    if (type[node] !== NodeType.string) continue;
    const size = heap.snapshot.nodes.selfSize.get(node);
    if (size === 0) continue;
    strings++;
    bytes += size;
    const key = name[node]! * 0x100000 + Math.min(size, 0xfffff);
    const group = groups.get(key);
    if (!group) groups.set(key, { node, count: 1, bytes: size, size });
    else {
      group.count++;
      group.bytes += size;
    }
  }
  const repeated = [...groups.values()].filter((group) => group.count > 1);
  const waste = (group: { bytes: number; size: number }): number => group.bytes - group.size;
  const { strings: table } = heap.snapshot;
  const isUnsure = ({ node }: { node: number }): boolean => table.rawLength(name[node]!) >= longestRaw;
  const wasted = (of: typeof repeated): number => of.reduce((sum, group) => sum + waste(group), 0);
  return {
    count: strings,
    selfSizeBytes: bytes,
    wastedBytes: wasted(repeated),
    unsureBytes: wasted(repeated.filter(isUnsure)),
    rows: repeated
      .sort((a, b) => waste(b) - waste(a))
      .slice(0, limit)
      .map((group) => ({
        value: stringText(heap, group.node),
        count: group.count,
        selfSizeBytes: group.bytes,
        wastedBytes: waste(group),
        id: heap.snapshot.nodes.id.get(group.node),
      })),
  };
}
