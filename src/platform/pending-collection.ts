/**
 * Forces a full garbage collection. Used between two heaps that each fill a good part of the memory, and by code that ends one of
 * our threads.
 *
 * If a compile job of V8 finds the heap at its limit, it waits for a collection by its isolate's thread, while Node waits for
 * such jobs at the end of a thread without collecting. This is a deadlock (nodejs/node 54918; on Node 20 at the end of every
 * thread, in later versions in `process.exit` and similar). A full collection unblocks the waiting job, and makes room for
 * running ones.
 */
export function collectNow(): void {
  try {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    process.getBuiltinModule('node:vm').runInNewContext('gc')();
  } catch {
    // If Node refuses it, the thread ends as it would have without us.
  }
}
