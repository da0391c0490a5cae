/** What every store with queues must do. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import type { WorkerOptions } from '../../../src/durable/dispatch/worker-options.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { firstOpening } from '../../../src/durable/runs/open-run.ts';
import type { QueueLimits } from '../../../src/durable/stores/queue-limits.ts';
import type { DurableStore, TakenRun } from '../../../src/durable/stores/store.ts';
import { until } from '../until.ts';
import { type QueuesUnderTest, testerOf, work } from './stores-under-test.ts';

const hourMs = 3_600_000;

/** A program whose runs stay at work until `let` is called for them, and what was at work at the same time. */
class Gate {
  readonly atWork = new Map<string, string>();
  readonly ended: string[] = [];
  most = 0;
  mostOfKey = 0;
  #isOpen = false;
  readonly #let = new Set<string>();
  readonly #open = new Map<string, () => void>();

  readonly program = async ({ id, input }: { id: string; input: unknown }) => {
    this.atWork.set(id, String(input));
    this.most = Math.max(this.most, this.atWork.size);
    const ofKey = [...this.atWork.values()].filter((key) => key === String(input)).length;
    this.mostOfKey = Math.max(this.mostOfKey, ofKey);
    await agent.step('work', async () => {
      if (!this.#isOpen && !this.#let.has(id))
        await new Promise<void>((resolve) => this.#open.set(id, resolve));
    });
    this.atWork.delete(id);
    this.ended.push(id);
  };

  let(id: string): void {
    // Its step may not have begun yet.
    this.#let.add(id);
    this.#open.get(id)?.();
  }

  openForAll(): void {
    this.#isOpen = true;
    for (const open of this.#open.values()) open();
  }
}

export function testQueues(subject: QueuesUnderTest): void {
  const check = testerOf(subject);

  /** Workers as in several processes, each with its own view of the store. */
  async function workAll(
    t: TestContext,
    store: DurableStore,
    many: number,
    options: Omit<WorkerOptions, 'options' | 'store'>,
  ) {
    for (let index = 0; index < many; index++) {
      const view = index === 0 ? store : await subject.reopen(store);
      if (view !== store) t.after(() => view.close());
      work(t, { store: view, ...options });
    }
  }

  const queue = async (store: DurableStore, key: string, many: number, first = 0) => {
    for (let index = first; index < first + many; index++)
      await enqueueRun(store, 'job', { id: `${key}${index}`, input: key, queue: 'q', queueKey: key });
  };

  /** Takes runs as a worker does, without performing them. */
  const take = async (store: DurableStore, limits: QueueLimits, most = 100): Promise<TakenRun[]> => {
    const wish = { names: ['job'], except: [], most, opening: firstOpening({}) };
    const { runs } = (await store.takeQueued?.({ ...wish, queues: { q: limits } })) ?? { runs: [] };
    for (const { error } of runs) assert.equal(error, undefined);
    return runs;
  };
  const idsOf = (runs: readonly TakenRun[]) => runs.map(({ id }) => id).toSorted();
  const release = (runs: readonly TakenRun[], isOver: boolean) =>
    Promise.all(runs.map(({ handle }) => handle?.release({ isOver })));

  check('several workers together have no more runs in progress than the queue permits', async (store, t) => {
    const gate = new Gate();
    await queue(store, 'a', 6);
    await queue(store, 'b', 6);
    await workAll(t, store, 3, {
      programs: { job: gate.program },
      queues: { q: { concurrency: 5, perKey: { concurrency: 3 } } },
    });
    await until(() => gate.atWork.size === 5);
    gate.openForAll();
    await until(() => gate.ended.length === 12);
    assert.equal(gate.most, 5);
    assert.equal(gate.mostOfKey, 3);
  });

  check('a key that has reached its limit does not keep the others waiting', async (store, t) => {
    const gate = new Gate();
    await queue(store, 'a', 20);
    await workAll(t, store, 2, {
      programs: { job: gate.program },
      queues: { q: { concurrency: 4, perKey: { concurrency: 1 } } },
    });
    await until(() => gate.atWork.size === 1);
    await queue(store, 'b', 2);
    await until(() => gate.atWork.size === 2);
    gate.let('b0');
    await until(() => gate.atWork.has('b1'));
    assert.equal(gate.mostOfKey, 1);
    gate.openForAll();
    await until(() => gate.ended.length === 22);
    assert.equal(gate.mostOfKey, 1);
  });

  check('the more urgent ones first, and no others than those that fit', async (store) => {
    for (const [id, priority] of [
      ['low', -1],
      ['high', 7],
      ['none', 0],
    ] as const)
      await enqueueRun(store, 'job', { id, queue: 'q', priority });
    await enqueueRun(store, 'job', { id: 'elsewhere', queue: 'other', priority: 9 });
    await enqueueRun(store, 'other', { id: 'not ours', queue: 'q', priority: 9 });
    await enqueueRun(store, 'job', {
      id: 'later',
      queue: 'q',
      priority: 9,
      startAt: new Date(Date.now() + hourMs),
    });
    const first = await take(store, { concurrency: 2 });
    assert.deepEqual(idsOf(first), ['high', 'none']);
    assert.deepEqual(await take(store, { concurrency: 2 }), []);
    await release(first.slice(0, 1), true);
    assert.deepEqual(idsOf(await take(store, { concurrency: 2 })), ['low']);
    const other = await subject.reopen(store);
    assert.deepEqual(await take(other, {}), []);
    await other.close();
  });

  check('a rate counts starts, in total and per key, and restarts too', async (store) => {
    await queue(store, 'a', 3);
    await queue(store, 'b', 3);
    const limits = {
      rate: { starts: 3, periodMs: hourMs },
      perKey: { rate: { starts: 2, periodMs: hourMs } },
    };
    const runs = await take(store, limits);
    assert.deepEqual(idsOf(runs), ['a0', 'a1', 'b0']);
    // As after a failure: the run has to be started again.
    await release(runs, false);
    assert.deepEqual(await take(store, limits), []);
    const [fourth, ...others] = await take(store, { ...limits, rate: { starts: 4, periodMs: hourMs } });
    assert.match(fourth?.id ?? '', /^b/);
    assert.deepEqual(others, []);
  });

  check('a rate permits the next start when its period has passed, not before', async (store) => {
    await queue(store, 'a', 5);
    const periodMs = 300;
    const limits = { rate: { starts: 2, periodMs } };
    const beganMs = performance.now();
    const taken = await take(store, limits);
    assert.equal(taken.length, 2);
    const later: TakenRun[] = [];
    await until(async () => {
      later.push(...(await take(store, limits)));
      return later.length > 0;
    });
    // A clock of the server and one of ours may differ by a tick.
    assert.ok(performance.now() - beganMs > periodMs - 2);
    assert.ok(later.length <= 2);
  });

  check('a run that waits gives up its place, and continues without another start', async (store, t) => {
    const programs = {
      job: async () => {
        await agent.step('one', () => 1);
        await agent.waitForApproval('go');
        await agent.step('two', () => 2);
      },
      plain: () => agent.step('work', () => 1),
    };
    const queues = { q: { concurrency: 1, rate: { starts: 2, periodMs: hourMs } } };
    const stateOf = async (id: string) => (await summarizeRun(store, id)).state;
    await enqueueRun(store, 'job', { id: 'asks', queue: 'q' });
    await workAll(t, store, 2, { programs, queues });
    await until(async () => (await stateOf('asks')) === 'waiting');
    await enqueueRun(store, 'plain', { id: 'second', queue: 'q' });
    await until(async () => (await stateOf('second')) === 'finished');
    await enqueueRun(store, 'plain', { id: 'third', queue: 'q' });
    await answerApproval(store, 'asks', 'go', { approved: true });
    await until(async () => (await stateOf('asks')) === 'finished');
    assert.equal(await stateOf('third'), 'queued');
  });

  check(
    'a worker without the queue leaves its runs alone; runs without a queue have no limit',
    async (store, t) => {
      const gate = new Gate();
      await queue(store, 'a', 2);
      for (const id of ['x', 'y']) await enqueueRun(store, 'job', { id, input: id });
      work(t, { store, programs: { job: gate.program } });
      await until(() => gate.atWork.size === 2);
      gate.openForAll();
      await until(() => gate.ended.length === 2);
      assert.deepEqual(gate.ended.toSorted(), ['x', 'y']);
      const view = await subject.reopen(store);
      t.after(() => view.close());
      work(t, { store: view, programs: { job: gate.program }, queues: { q: { concurrency: 1 } } });
      await until(() => gate.ended.length === 4);
    },
  );
}
