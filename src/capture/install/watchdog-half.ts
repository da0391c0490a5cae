/**
 * The half of the preload that watches the main thread's event loop: its main-thread side, and at the same time the source of
 * the watchdog's thread. Embedded as text; compiled when the program has run long enough to be watched.
 */
import { workerData } from 'node:worker_threads';
import type { WatchdogData } from '../watchdog/protocol.ts';
import { watch } from '../watchdog/watcher.ts';

export { MemorySampler } from '../heap/memory-sampler.ts';
export { startWatch } from '../watchdog/start-watch.ts';

if ((workerData as WatchdogData | null)?.agentdump === 'watchdog') watch();
