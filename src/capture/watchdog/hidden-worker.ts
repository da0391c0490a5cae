/**
 * Starts a thread of our own that the host does not see: no `worker` event, no use of the host's stdio, nothing inherited (a
 * worker inherits execArgv, and with it this preload), and nothing that keeps the process alive. Nor does the host see its
 * messages, whatever it has made of the methods by which Node listens and emits.
 */
import type { Worker as Thread } from 'node:worker_threads';
import { getBuiltinModule } from '../host/intrinsics/intrinsics.ts';
import { keepingTransferred, keepNativeEvents, withNativeEvents } from '../host/intrinsics/native-events.ts';

const limits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2, stackSizeMb: 2 };
/** The program may replace it. */
const { Worker } = getBuiltinModule('node:worker_threads');

export function startHiddenWorker(source: string, workerData: unknown): Thread {
  return withNativeEvents(() => {
    const worker = withoutWorkerEvent(() => keepingTransferred(() => makeWorker(source, workerData)));
    keepNativeEvents(worker);
    keepNativeEvents(worker.stdout);
    keepNativeEvents(worker.stderr);
    return worker;
  });
}

const makeWorker = (source: string, workerData: unknown): Thread =>
  new Worker(source, {
    eval: true,
    name: 'agentdump watchdog',
    // For held-signals.ts, in this thread only.
    execArgv: ['--expose-internals', '--no-warnings'],
    // A program may have made reading the environment throw. It must throw here, where that only means that no thread starts:
    // Node 24 reads it again when the thread answers, and would then end the program.
    env: { HOME: process.env['HOME'] ?? '' },
    stdout: true,
    stderr: true,
    trackUnmanagedFds: false,
    resourceLimits: limits,
    workerData,
  });

/** Node emits the event for a new worker in the next tick. */
function withoutWorkerEvent<Value>(start: () => Value): Value {
  const descriptor = Object.getOwnPropertyDescriptor(process, 'nextTick');
  const { nextTick } = process;
  const isTold = (callback: unknown): boolean => /emit\(['"]worker['"]/.test(String(callback));
  const quiet = (callback: () => void, ...rest: unknown[]): void => {
    if (!isTold(callback)) Reflect.apply(nextTick, process, [callback, ...rest]);
  };
  Object.defineProperty(process, 'nextTick', { ...descriptor, value: quiet });
  try {
    return start();
  } finally {
    if (descriptor) Object.defineProperty(process, 'nextTick', descriptor);
  }
}
