/**
 * Frees what Node needed only to start this thread. V8 collects a heap only when it grows, and the heap of a waiting thread does
 * not grow. On Node 20 to 24 this frees 3 MB of 7 to 9, on Node 26 0.7 of 5.5, for about 20 ms of CPU time.
 */
export function compactHeap(): void {
  try {
    const session = new (process.getBuiltinModule('node:inspector').Session)();
    session.connect();
    // On Node 20 `disconnect` does not return if this very callback calls it.
    session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
  } catch {
    // This Node has no inspector, or may not use it.
  }
}
