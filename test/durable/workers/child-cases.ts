/** Child runs: what every store must do. */
import assert from 'node:assert/strict';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, rollBack, summarizeRun } from '../../../src/durable/inspect.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { startWorker } from '../../../src/durable/worker.ts';
import { until } from '../until.ts';
import { type QueuesUnderTest, testerOf, work } from './stores-under-test.ts';

/** The same store for a process that dies before it can tell a parent of its child's end. */
function mute(store: DurableStore): DurableStore {
  const answer: DurableStore['answer'] = (id, path, payload) => {
    if (path.startsWith('!child/')) throw new Error('the process died here');
    return store.answer(id, path, payload);
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'answer') return answer;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function testChildren(subject: QueuesUnderTest): void {
  const check = testerOf(subject);

  /** Undefined if there is no such run yet. */
  const stateOf = async (store: DurableStore, id: string) =>
    (await store.list()).includes(id) ? (await summarizeRun(store, id)).state : undefined;
  const hasFinished = (store: DurableStore, id: string) =>
    until(async () => (await stateOf(store, id)) === 'finished');

  check('children have ids of their own, and their results go to their callers', async (store, t) => {
    const squares = async ({ input }: { input: unknown }) => {
      const numbers = input as number[];
      const all = await Promise.all(numbers.map((input) => agent.childRun<number>('square', { input })));
      await agent.step('tell', () => told.push(all));
    };
    const told: number[][] = [];
    const square = ({ input }: { input: unknown }) => agent.step('square', () => (input as number) ** 2);
    await enqueueRun(store, 'squares', { id: 'parent', input: [1, 2, 3, 4, 5, 6] });
    work(t, { store, programs: { squares, square } });
    await hasFinished(store, 'parent');
    assert.deepEqual(told, [[1, 4, 9, 16, 25, 36]]);
    const runs = await Promise.all((await store.list()).map((id) => summarizeRun(store, id)));
    assert.equal(runs.filter(({ parent, name }) => parent === 'parent' && name === 'square').length, 6);
  });

  check(
    'a parent that was put to rest continues when its child has ended, in another worker',
    async (store, t) => {
      const parent = async () => {
        const { approved } = await agent.childRun<{ approved: boolean }>('asks', { id: 'child' });
        await agent.step('go on', () => gone.push(approved));
      };
      const gone: boolean[] = [];
      await enqueueRun(store, 'parent', { id: 'parent' });
      const first = work(t, { store: await subject.reopen(store), programs: { parent } });
      await until(async () => (await summarizeRun(store, 'parent')).waitingFor[0]?.run === 'child');
      await first.stop();
      assert.equal(await stateOf(store, 'parent'), 'waiting');
      assert.equal(await stateOf(store, 'child'), 'queued');
      work(t, { store, programs: { asks: () => agent.waitForApproval('ok', { of: 'child' }) } });
      await until(async () => (await stateOf(store, 'child')) === 'waiting');
      await answerApproval(store, 'child', 'ok', { approved: true });
      await hasFinished(store, 'child');
      work(t, { store: await subject.reopen(store), programs: { parent } });
      await hasFinished(store, 'parent');
      assert.deepEqual(gone, [true]);
    },
  );

  check(
    'a worker that dies between the end of a child and its word to the parent loses nothing',
    async (store, t) => {
      let performed = 0;
      const child = () => agent.step('once', () => ++performed);
      const parent = () => agent.childRun<number>('child', { id: 'child' });
      await enqueueRun(store, 'parent', { id: 'parent' });
      const first = startWorker({
        store: mute(store),
        everyMs: 20,
        programs: { child, parent },
        options: { notify: () => {} },
      });
      await hasFinished(store, 'child');
      await first.stop();
      assert.equal(await stateOf(store, 'parent'), 'waiting');
      work(t, { store: await subject.reopen(store), programs: { child, parent } });
      await hasFinished(store, 'parent');
      assert.equal(performed, 1);
    },
  );

  check("a child's failure is its parent's, after the child's own tries", async (store, t) => {
    let tries = 0;
    const child = () =>
      agent.step('fails', () => {
        throw Object.assign(new RangeError(`try ${++tries}`), { status: 429 });
      });
    const caught: unknown[] = [];
    const parent = async () => {
      try {
        await agent.childRun('child', { retry: { attempts: 2, delayMs: 1 } });
      } catch (error) {
        caught.push([(error as Error).name, (error as Error).message, (error as { status?: number }).status]);
      }
      return 'went on';
    };
    await enqueueRun(store, 'parent', { id: 'parent' });
    work(t, { store, programs: { child, parent } });
    await hasFinished(store, 'parent');
    assert.deepEqual(caught, [['RangeError', 'try 2', 429]]);
  });

  check(
    'who cancels a parent cancels the children that it waits for, and it does not go on without them',
    async (store, t) => {
      const gone: string[] = [];
      const goOn = (error: Error) => agent.step('go on', () => gone.push(error.message));
      const start = (input: number) => agent.childRun('child', { id: `child-${input}`, input }).catch(goOn);
      const parent = () => Promise.all([1, 2].map(start));
      const child = () => agent.waitForSignal('never');
      await enqueueRun(store, 'parent', { id: 'parent' });
      work(t, { store, programs: { child, parent } });
      const isWaiting = async (id: string) => (await stateOf(store, id)) === 'waiting';
      await until(async () => (await isWaiting('child-1')) && (await isWaiting('child-2')));
      await cancelRun(store, 'parent', { reason: 'enough' });
      for (const id of ['parent', 'child-1', 'child-2'])
        await until(async () => (await stateOf(store, id)) === 'cancelled');
      assert.deepEqual(gone, []);
    },
  );

  check('a child that failed keeps its error when its parent is cancelled', async (store, t) => {
    const child = () => {
      throw new RangeError('of the child');
    };
    // The parent is cancelled before it reads the child's end.
    await enqueueRun(store, 'parent', { id: 'parent' });
    const parent = async () => {
      await agent.childRun('child', { id: 'child' });
    };
    const first = work(t, { store: mute(store), programs: { parent, child } });
    await until(async () => (await stateOf(store, 'child')) === 'failed');
    await first.stop();
    await cancelRun(store, 'parent');
    assert.equal(await stateOf(store, 'parent'), 'cancelled');
    assert.equal(await stateOf(store, 'child'), 'failed');
  });

  check(
    'a parent that can not be told of an end hides neither the result nor the error',
    async (store, t) => {
      const fails = () => {
        throw new RangeError('of the child');
      };
      const ended = new Map<string, string>();
      const said: string[] = [];
      const parent = () =>
        Promise.allSettled([agent.childRun('fails', { id: 'a' }), agent.childRun('five', { id: 'b' })]);
      const five = () => 5;
      await enqueueRun(store, 'parent', { id: 'parent' });
      const first = startWorker({
        store: mute(store),
        everyMs: 20,
        programs: { parent, fails, five },
        options: { notify: (line) => said.push(line) },
        onEnd: (id, error) => ended.set(id, error === undefined ? 'well' : (error as Error).message),
      });
      await until(() => ended.size === 2);
      await first.stop();
      assert.deepEqual([...ended].sort(), [
        ['a', 'of the child'],
        ['b', 'well'],
      ]);
      assert.match(said.join('\n'), /the process died here/);
      const direct = {
        durable: true,
        store: mute(store),
        id: 'b',
        notify: (line: string) => said.push(line),
      } as const;
      assert.equal(await agent.run('five', direct, five), 5);
      assert.match(
        said.at(-1) ?? '',
        /^run b: its parent could not be told of its end, which a worker does: the process/,
      );
      work(t, { store: await subject.reopen(store), programs: { parent, fails, five } });
      await hasFinished(store, 'parent');
    },
  );

  check('a cancelled child is an error of its parent', async (store, t) => {
    const parent = () => agent.childRun('child', { id: 'child' }).catch((error: Error) => error.message);
    await enqueueRun(store, 'parent', { id: 'parent' });
    const ended: string[] = [];
    work(t, { store, programs: { parent }, onEnd: (id) => ended.push(id) });
    await until(async () => (await stateOf(store, 'child')) === 'queued');
    await cancelRun(store, 'child', { reason: 'not needed' });
    await hasFinished(store, 'parent');
    const again = await agent.run(
      'parent',
      { id: 'parent', durable: true, store, notify: () => {} },
      () => 'never',
    );
    assert.equal(again, 'run child was cancelled: not needed');
  });

  check('after a rollback a child without an id of its own is another run', async (store, t) => {
    const inputs: unknown[] = [];
    const child = ({ input }: { input: unknown }) => agent.step('note', () => inputs.push(input));
    let draft = 0;
    const parent = async () => {
      const input = await agent.step('draft', () => ++draft);
      return agent.childRun<number>('child', { input });
    };
    await enqueueRun(store, 'parent', { id: 'parent' });
    work(t, { store, programs: { child, parent } });
    await hasFinished(store, 'parent');
    await until(async () => (await rollBack(store, 'parent', 'draft').catch(() => '')) !== '');
    await until(() => inputs.length === 2);
    await hasFinished(store, 'parent');
    assert.deepEqual(inputs, [1, 2]);
  });

  check('an id that belongs to another run, and a changed input, are refused', async (store) => {
    await enqueueRun(store, 'child', { id: 'taken' });
    const options = { durable: true, store, notify: () => {} } as const;
    await assert.rejects(
      agent.run('parent', { ...options, id: 'a' }, () => agent.childRun('child', { id: 'taken' })),
      { code: 'usage', message: 'run taken exists already, and is not a child of run a' },
    );
    await cancelRun(store, 'a');
    assert.equal(await stateOf(store, 'taken'), 'queued');
    const life = new AbortController();
    const asks = (input: number) => () => agent.childRun('child', { input });
    const first = agent.run('parent', { ...options, id: 'b', signal: life.signal }, asks(1));
    await until(async () => (await summarizeRun(store, 'b').catch(() => undefined))?.waitingFor.length === 1);
    life.abort();
    await assert.rejects(first, { name: 'AbortError' });
    await assert.rejects(agent.run('parent', { ...options, id: 'b' }, asks(2)), { code: 'changed' });
  });
}
