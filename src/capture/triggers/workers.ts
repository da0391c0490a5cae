/**
 * The death of a worker thread as its parent sees it (row 15): out of memory, when the worker itself can write nothing. A
 * worker that throws or exits is captured by the preload inside of it; an error that nobody listens for becomes the parent's
 * uncaught exception.
 */
import type { Worker } from 'node:worker_threads';
import { tapEvents } from './event-tap.ts';
import type { Trigger, TriggerContext } from './trigger.ts';

export const workersTrigger: Trigger = (context) => {
  context.events.tap('worker', {
    before: (worker: Worker) => {
      context.workers.add(worker);
      watchWorker(worker, context);
    },
  });
  return undefined;
};

function watchWorker(worker: Worker, context: TriggerContext): void {
  const { threadId, resourceLimits } = worker;
  const events = tapEvents(worker);
  events.tap('exit', { atEmit: () => context.workers.delete(worker) });
  events.tap('error', {
    // Node creates this error itself when the thread has ended; an error that the worker threw arrives by another path.
    joins: ({ caller }, hasHost) => hasHost && caller.includes('kOnExit'),
    before: (error: unknown) => {
      if (isOutOfMemory(error)) captureOutOfMemory(error, threadId, resourceLimits, context);
    },
  });
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function captureOutOfMemory(
  error: unknown,
  threadId: number,
  limits: Worker['resourceLimits'],
  { capture }: TriggerContext,
): void {
  const resourceLimits = Object.fromEntries(
    Object.entries(limits ?? {}).map(([name, mb]) => [name, Number(mb)]),
  );
  capture({
    kind: 'worker-death',
    handledByHost: true,
    thrown: { value: error },
    details: { worker: { threadId, exitCode: 1, resourceLimits } },
  });
}
