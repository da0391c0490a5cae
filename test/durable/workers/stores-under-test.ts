/** A store in which the tests of workers run, and the worker that each of them starts. */
import { type TestContext, test } from 'node:test';
import type { WorkerOptions } from '../../../src/durable/dispatch/worker-options.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { startWorker } from '../../../src/durable/worker.ts';

export interface QueuesUnderTest {
  name: string;
  skip?: string | undefined;
  open(): Promise<DurableStore>;
  /** Returns the same store as another process sees it. */
  reopen(store: DurableStore): Promise<DurableStore>;
}

/** A test with a store of its own. */
export const testerOf =
  (subject: QueuesUnderTest) =>
  (what: string, body: (store: DurableStore, t: TestContext) => Promise<void>): void => {
    test(`${subject.name}: ${what}`, { skip: subject.skip ?? false }, async (t) => {
      const store = await subject.open();
      t.after(() => store.close());
      await body(store, t);
    });
  };

/** A worker that looks often and says nothing. It is stopped when its test ends, before the store is closed. */
export function work(t: TestContext, options: Omit<WorkerOptions, 'options'>) {
  const worker = startWorker({ everyMs: 20, options: { notify: () => {} }, ...options });
  t.after(() => worker.stop());
  return worker;
}

/** A worker that records how its runs end. */
export function workAndRecord(t: TestContext, options: Omit<WorkerOptions, 'options'>) {
  const ended = new Map<string, unknown>();
  const worker = work(t, { onEnd: (id, error) => ended.set(id, error ?? 'well'), ...options });
  return { worker, ended };
}
