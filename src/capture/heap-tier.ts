/**
 * Decides whether a heap snapshot fits, before it is taken: the dump must not be what gets the container killed.
 * V8's snapshot costs memory by the number of objects, not by their bytes (measured on Node 20–26: 9–11 times the heap
 * for small objects, nearly nothing for a few big strings), so the estimate counts what small objects could fill.
 */
import type { MemoryPart } from '../bundle/layout.ts';
import type { Config } from './config.ts';
import { availableBytes } from './parts/memory.ts';
import { readCgroup } from './parts/process.ts';

/** Extra bytes per byte of small-object space, and milliseconds per MB of it: the upper ends of what was measured. */
const bytesPerHeapByte = 11;
const msPerHeapMb = 75;
/** Large-object space holds few, big objects: buffers of arrays, long strings. */
const bytesPerLargeByte = 1;
const headroomShare = 0.7;

export function decideHeapTier(config: Config): MemoryPart['heapTier'] {
  const { heap } = config;
  if (heap === 'off') return { wanted: heap, taken: 'statistics', reason: 'AGENTDUMP_HEAP is off' };
  const estimate = estimateSnapshot();
  const figures = { estimatedBytes: estimate.bytes, estimatedMs: estimate.ms };
  if (heap === 'always') return { wanted: heap, taken: 'snapshot', reason: 'asked for', ...figures };
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

/** The least of what the machine and the cgroup still have. */
function headroomBytes(): number {
  const cgroup = readCgroup();
  const pairs = [
    [cgroup['memory.max'], cgroup['memory.current']],
    [cgroup['memory/memory.limit_in_bytes'], cgroup['memory/memory.usage_in_bytes']],
  ];
  const inGroup = pairs.map(([max, used]) =>
    typeof max === 'number' && typeof used === 'number' ? Math.max(0, max - used) : Number.POSITIVE_INFINITY,
  );
  return Math.min(availableBytes(), ...inGroup);
}

function toMb(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
