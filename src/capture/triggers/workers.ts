/**
 * The death of a worker thread as its parent sees it (row 15): out of memory, when the worker itself can write nothing. A
 * worker that throws or exits is captured by the preload inside of it; an error that nobody listens for becomes the parent's
 * uncaught exception.
 */
import type { Worker } from 'node:worker_threads';
import { tapEvents } from './event-tap.ts';
import type { KnownWorker } from './known-workers.ts';
import type { Trigger, TriggerContext } from './trigger.ts';

export const workersTrigger: Trigger = (context) => {
  context.events.tap('worker', {
    before: (worker: Worker) => {
      watchWorker(worker, context.workers.add(worker), context);
    },
  });
  return undefined;
};

function watchWorker(worker: Worker, facts: KnownWorker, context: TriggerContext): void {
  const { resourceLimits } = worker;
  const events = tapEvents(worker);
  events.tap('exit', { atEmit: () => context.workers.delete(worker) });
  events.tap('error', {
    atEmit: () => {
      context.workers.erring = facts;
    },
    // Node creates this error itself when the thread has ended; an error that the worker threw arrives by another path.
    joins: ({ caller }, hasHost) => hasHost && caller.includes('kOnExit'),
    before: (error: unknown) => {
      if (isOutOfMemory(error)) captureOutOfMemory(error, facts, resourceLimits, context);
    },
  });
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function captureOutOfMemory(
  error: unknown,
  facts: KnownWorker,
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
    details: { worker: { ...facts, exitCode: 1, resourceLimits } },
  });
}
