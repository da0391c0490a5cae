/**
 * Answers and ends of steps come in their recorded order, whatever was run again; the results of an abandoned try are not
 * used.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { rollBack } from '../../../src/durable/inspect.ts';
import { RecordCodec } from '../../../src/durable/records/codec.ts';
import { RunLog } from '../../../src/durable/runs/run-log.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { crashingStore } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-recorded-order-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const fresh = () => new FileStore(join(folder, `dumps-${count++}`));
const quiet = { id: 'a', durable: true, notify: () => {} } as const;

test('a branch of a try that was given up asks for nothing more, and the next try is recorded by itself', async () => {
  const store = fresh();
  const done: string[] = [];
  let tries = 0;
  let lives = 0;
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const program = async () => {
    lives++;
    await agent.step(
      'outer',
      async () => {
        const nth = ++tries;
        const branch = (async () => {
          await agent.step('slow', async () => {
            done.push(`slow ${nth}`);
            if (nth === 1) await gate;
          });
          await agent.step('behind', () => done.push(`behind ${nth}`));
        })();
        await agent.step('beside', () => nth);
        if (nth === 1) throw new Error('once more');
        open();
        await branch;
      },
      { retry: { attempts: 2, delayMs: 1 } },
    );
    await sleep(20);
    if (lives === 1) throw new Error('the first life fails');
    return agent.step('last', () => done.length);
  };
  await assert.rejects(agent.run('job', { ...quiet, store }, program), /first life/);
  assert.equal(await agent.run('job', { ...quiet, store }, program), 3);
  assert.deepEqual(done, ['slow 1', 'slow 2', 'behind 2']);
});

test('a step that failed the run and is run again ends where it had ended, in every life after that', async () => {
  const store = fresh();
  let life = 0;
  const program = async () => {
    life++;
    const first = agent.step('first', async () => {
      if (life === 1) throw new Error('first fails');
      await sleep(20);
      return 'first';
    });
    const second = agent.step('second', async () => {
      await sleep(5);
      return 'second';
    });
    const winner = await Promise.race([first, second]).catch(async (error) => {
      await second;
      throw error;
    });
    await agent.step(`after ${winner}`, () => 1);
    if (life === 2) throw new Error('the second life fails');
    return winner;
  };
  await assert.rejects(agent.run('job', { ...quiet, store }, program), /first fails/);
  await assert.rejects(agent.run('job', { ...quiet, store }, program), /second life/);
  assert.equal(await agent.run('job', { ...quiet, store }, program), 'first');
});

test('a sleep that is over at once and a step that returns at once: who won is the same in every life', async () => {
  for (const where of ['before', 'after'] as const)
    for (const isSlow of [false, true])
      for (let at = 2; at <= 12; at++) {
        const store = fresh();
        const seen: unknown[] = [];
        const program = async () => {
          const winner = await Promise.race([
            agent.tool('one', { n: 1 }, () => 'one'),
            agent.sleep('nap', 0).then(() => 'nap'),
            agent.step('doubtful', () => 'doubtful', { inDoubt: 'skip' }),
          ]);
          const told = await agent.tool('tell', { winner }, () => winner);
          seen.push([winner, told]);
          return told;
        };
        const mortal = crashingStore(store, at, where, isSlow);
        await agent.run('job', { ...quiet, store: mortal }, program).catch(() => {});
        await agent
          .run('job', { ...quiet, store: crashingStore(store, 4, where, isSlow) }, program)
          .catch(() => {});
        await agent.run('job', { ...quiet, store }, program);
        for (const pair of seen) assert.equal((pair as string[])[0], (pair as string[])[1], `${where} ${at}`);
      }
});

test('an effect with another input has another key, in the next try around it and after a rollback', async () => {
  const store = fresh();
  const keys: string[] = [];
  const asked: string[] = [];
  const sums = [5, 5, 7, 7];
  let tries = 0;
  const program = () =>
    agent.step(
      'order',
      async () => {
        const sum = await agent.step('sum', () => sums[tries++]);
        const pay = async (_: unknown, { effect }: { effect: { key: string } }) => {
          keys.push(effect.key);
        };
        const inDoubt = ({ key }: { key: string }) => {
          asked.push(key);
          return undefined;
        };
        await agent.tool('pay', { sum }, pay, { inDoubt });
        if (tries < 4) throw new Error('once more');
      },
      { retry: { attempts: 4, delayMs: 1 } },
    );
  // The third try of the order dies when its payment has begun: two records of the run, two tries of six records, then the
  // start of the try, the start and end of the sum, and the start of the payment.
  const mortal = crashingStore(store, 2 + 2 * 6 + 4, 'after');
  await assert.rejects(agent.run('job', { ...quiet, store: mortal }, program), /died here/);
  const [first, second] = keys;
  assert.equal(keys.length, 2);
  assert.equal(second, first);
  await agent.run('job', { ...quiet, store }, program);
  const [third, fourth] = keys.slice(2);
  assert.notEqual(third, first);
  assert.equal(fourth, third);
  assert.deepEqual(asked, [third]);

  await rollBack(store, 'a', 'order');
  tries = 3;
  sums[3] = 9;
  await agent.run('job', { ...quiet, store }, program);
  assert.ok(!keys.slice(0, 4).includes(keys.at(-1)!));
});

test('a step between two tries is running: what begins then runs beside it', async () => {
  const store = fresh();
  const program = () =>
    Promise.all([
      agent.step(
        'again',
        ({ attempt }) => {
          if (attempt === 1) throw new Error('once more');
        },
        { retry: { attempts: 2, delayMs: 50 } },
      ),
      sleep(5).then(() => agent.step('beside', () => 1)),
    ]);
  await agent.run('job', { ...quiet, store }, program);
  const log = new RunLog(store.read('a').records, new RecordCodec({}));
  assert.deepEqual([log.scope('').isParallel, log.scope('').open.size], [true, 0]);
});
