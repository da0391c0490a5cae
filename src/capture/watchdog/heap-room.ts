/**
 * How near to V8's limit a debugger may come. While one is enabled V8 lets a heap that reaches its limit grow to four
 * times of it, and afterwards takes the limit back only to 1.25 times of what is in use (`V8Debugger::
 * nearHeapLimitCallback`, `Heap::RestoreHeapLimit`): a program that would die at 224 MB was seen to live on at 1.3 GB.
 */

/** Less room than either is too little: the fastest program fills 0.5 MB a millisecond, and letting go takes some 30. */
const leastShare = 1 / 8;
const leastBytes = 48 * 1024 * 1024;

/** Bytes that the process may grow by while a debugger is enabled; 0 where none may be. */
export function roomForDebugger(usedBytes: number, limitBytes: number): number {
  const room = limitBytes - usedBytes;
  return room < Math.max(leastBytes, limitBytes * leastShare) ? 0 : room / 2;
}
