/**
 * How close to V8's limit our looks at memory may come: a program that would have lived on must not die of one.
 *
 * A debugger: while one is enabled, V8 lets a heap that reaches its limit grow to four
 * times the limit, and afterwards lowers the limit only to 1.25 times of what is in use (`V8Debugger::nearHeapLimitCallback`,
 * `Heap::RestoreHeapLimit`): a program that would have died at 224 MB was seen alive at 1.3 GB.
 */

/** The minimum of room: the fastest program fills 0.5 MB per millisecond, and detaching takes about 30 ms. */
const leastShare = 1 / 8;
const leastBytes = 48 * 1024 * 1024;

/** Bytes that the process may grow by while a debugger is enabled; 0 if none may be enabled. */
export function roomForDebugger(usedBytes: number, limitBytes: number): number {
  const room = limitBytes - usedBytes;
  return room < Math.max(leastBytes, limitBytes * leastShare) ? 0 : room / 2;
}

/** Of the old generation. */
export interface HeapUse {
  used: number;
  limit: number;
}

/**
 * The allocation profile: reading it collects all garbage (V8 gives up after four collections in vain near its limit) and copies a tree
 * that has up to 128 frames for each sample. Measured: 0.3 KB for each node and as much again meanwhile, 16 MB for the 27,000 nodes
 * of deep stacks (Node 20 to 26). It may have grown to three times what it was when it was last read.
 */
const leastForProfile = 12 * 1024 * 1024;
const leastShareForProfile = 1 / 16;
const nodeBytes = 600;
const mostGrowth = 3;

export function hasRoomForProfile({ used, limit }: HeapUse, nodesBefore: number): boolean {
  const needed = Math.max(
    leastForProfile,
    limit * leastShareForProfile,
    nodesBefore * nodeBytes * mostGrowth,
  );
  return limit - used >= needed;
}

/** A light snapshot: its code and its texts take about 5 MB of the heap. */
const leastForSnapshot = 8 * 1024 * 1024;

export function hasRoomForSnapshot({ used, limit }: HeapUse): boolean {
  return limit - used >= leastForSnapshot;
}
