/**
 * How close to V8's limit a debugger may be used. While one is enabled, V8 lets a heap that reaches its limit grow to four
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
