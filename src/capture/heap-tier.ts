/**
 * Decides whether a heap snapshot fits, before it is taken: the dump must not be what gets the container killed.
 * V8's snapshot costs memory by the number of objects, not by their bytes (measured on Node 20–26: 9–11 times the heap
 * for small objects, nearly nothing for a few big strings), so the estimate counts what small objects could fill.
 */
import type { MemoryPart, TriggerPart } from '../bundle/layout.ts';
import type { Config } from './config.ts';
import { availableBytes } from './parts/memory.ts';
import { readCgroup } from './parts/process.ts';

/** The one reason for having no snapshot that is no gap: nobody would miss it. */
export const notPressed = 'memory is not in question';

/** Extra bytes per byte of small-object space, and milliseconds per MB of it: the upper ends of what was measured. */
const bytesPerHeapByte = 11;
const msPerHeapMb = 75;
/** Large-object space holds few, big objects: buffers of arrays, long strings. */
const bytesPerLargeByte = 1;
const headroomShare = 0.7;
/** Longer than that nobody waits for a death. */
const longestAutoMs = 30_000;
/** Memory is in question from here on: of V8's heap limit, and of the cgroup's. */
const pressedHeapShare = 0.4;
const pressedGroupShare = 0.6;

export function decideHeapTier({ heap }: Config, trigger: TriggerPart): MemoryPart['heapTier'] {
  if (heap === 'off') return { wanted: heap, taken: 'statistics', reason: 'AGENTDUMP_HEAP is off' };
  const estimate = estimateSnapshot();
  const figures = { estimatedBytes: estimate.bytes, estimatedMs: estimate.ms };
  if (heap === 'always') return { wanted: heap, taken: 'snapshot', reason: 'asked for', ...figures };
  // It goes on, and stands still while we write; or it has no memory to spare.
  if (trigger.kind === 'stall' || trigger.kind === 'snapshot-memory')
    return { wanted: heap, taken: 'statistics', reason: notPressed, ...figures };
  if (heap === 'pressed' && trigger.verdictKind !== 'snapshot' && !isMemoryPressed())
    return { wanted: heap, taken: 'statistics', reason: notPressed, ...figures };
  if (estimate.ms > longestAutoMs) {
    const reason = `a snapshot may take ${Math.round(estimate.ms / 1000)} s`;
    return { wanted: heap, taken: 'statistics', reason, ...figures };
  }
  const headroom = Math.floor(headroomBytes() * headroomShare);
  if (estimate.bytes > headroom) {
    const reason = `a snapshot may need ${toMb(estimate.bytes)} MB and ${toMb(headroom)} MB may be used`;
    return { wanted: heap, taken: 'statistics', reason, ...figures };
  }
  return { wanted: heap, taken: 'snapshot', reason: 'it fits', ...figures };
}

/** Upper estimate of the extra memory and the time of a snapshot taken now. */
export function estimateSnapshot(): { bytes: number; ms: number } {
  const v8 = process.getBuiltinModule('node:v8');
  let small = 0;
  let large = 0;
  for (const space of v8.getHeapSpaceStatistics()) {
    if (/large/.test(space.space_name)) large += space.space_used_size;
    else if (!/read_only|code/.test(space.space_name)) small += space.space_used_size;
  }
  return {
    bytes: Math.round(small * bytesPerHeapByte + large * bytesPerLargeByte),
    ms: Math.round((small / 1024 ** 2) * msPerHeapMb),
  };
}

function isMemoryPressed(): boolean {
  const { used_heap_size, heap_size_limit } = process.getBuiltinModule('node:v8').getHeapStatistics();
  const group = readGroupMemory();
  return (
    used_heap_size > heap_size_limit * pressedHeapShare ||
    group.some(({ max, used }) => used > max * pressedGroupShare)
  );
}

/** The least of what the machine and the cgroup still have. */
function headroomBytes(): number {
  return Math.min(availableBytes(), ...readGroupMemory().map(({ max, used }) => Math.max(0, max - used)));
}

/** Limit and use of the cgroup, in bytes; nothing where there is no limit. */
function readGroupMemory(): { max: number; used: number }[] {
  const cgroup = readCgroup();
  const pairs = [
    [cgroup['memory.max'], cgroup['memory.current']],
    [cgroup['memory/memory.limit_in_bytes'], cgroup['memory/memory.usage_in_bytes']],
  ];
  return pairs.flatMap(([max, used]) =>
    typeof max === 'number' && typeof used === 'number' ? [{ max, used }] : [],
  );
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
