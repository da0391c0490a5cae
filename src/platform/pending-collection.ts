/**
 * A full garbage collection, now. Knows nothing of why; who ends a thread of ours asks for it.
 *
 * A compile job of V8 that finds the heap at its limit waits for a collection by its isolate's thread, and Node waits for
 * such jobs at a thread's end without collecting: both wait for ever (nodejs/node 54918; Node 20 at each end, later ones in
 * `process.exit` and its like). A full collection answers the job that waits, and leaves room for those that run.
 */
export function collectNow(): void {
  try {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    process.getBuiltinModule('node:vm').runInNewContext('gc')();
  } catch {
    // A Node that refuses it ends as it would have without us.
  }
}
