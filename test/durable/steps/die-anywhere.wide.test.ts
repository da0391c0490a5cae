/**
 * Programs with signals, sleeps, answers, tries and cancellation that die before and after each of their records in turn, and
 * are then continued. External effects are what counts: an effect is repeated only if its step was named in doubt, nobody
 * receives the result of another, and a rejected payment is never made.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, rollBack, summarizeRun } from '../../../src/durable/inspect.ts';
import type { DurableStepOptions, DurableWork } from '../../../src/durable/options.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { crashingStore } from '../random/crashing-store.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-die-anywhere-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** The effects of all lives. */
class World {
  readonly effects: string[] = [];
  readonly #done = new Map<string, number>();

  /** A step with an effect. `fails`: how many tries throw after the effect. */
  act(name: string, options: DurableStepOptions = {}, fails = 0): Promise<string> {
    return Promise.resolve(
      agent.step(name, (step) => this.#perform(name, step, fails), options),
    ) as Promise<string>;
  }

  async #perform(name: string, { effect, inDoubt, attempt }: DurableWork, fails: number): Promise<string> {
    const before = this.#done.get(effect.key) ?? 0;
    assert.ok(before === 0 || inDoubt || attempt > 1, `${name} was repeated, and nobody named it in doubt`);
    this.#done.set(effect.key, before + 1);
    this.effects.push(name);
    await sleep(1);
    if (attempt <= fails) throw new Error(`${name} fails`);
    return `result of ${name}`;
  }
}

interface Subject {
  program: (world: World) => Promise<unknown>;
  /** What people and other processes do; called repeatedly while the run is open. */
  outside?: (store: FileStore, turn: number) => Promise<unknown>;
  check: (result: unknown, world: World) => void;
}

async function live(subject: Subject, at: number, where: 'before' | 'after'): Promise<boolean> {
  const store = new FileStore(join(folder, `${count++}`));
  const world = new World();
  const mortal = crashingStore(store, at, where, where === 'before');
  let hasDied = false;
  let isOver = false;
  const busy = (async () => {
    for (let turn = 0; !isOver; turn++) {
      await subject.outside?.(store, turn);
      await sleep(3);
    }
  })();
  const life = (used: typeof mortal) =>
    agent.run('p', { id: 'r', durable: true, store: used, notify: () => {} }, () => subject.program(world));
  try {
    const first = await life(mortal).then(
      (result) => ({ result }),
      (error) => {
        if (!/died here/.test(error.message)) throw error;
        hasDied = true;
        return undefined;
      },
    );
    const { result } = first ?? { result: await life(store) };
    subject.check(result, world);
  } finally {
    isOver = true;
    await busy;
  }
  return hasDied;
}

/** Dies at each record in turn, until a life ends before it reaches that record. */
function dieAnywhere(name: string, subject: Subject): void {
  test(name, async () => {
    for (const where of ['before', 'after'] as const) {
      let at = 1;
      while (await live(subject, at, where)) at++;
      assert.ok(at > 3, `only ${at} records`);
    }
  });
}

const sorted = (values: unknown) => (values as string[]).toSorted();

/** Sends each of the values once, over all lives. */
function sender(name: string, values: readonly unknown[]) {
  const sent = new WeakMap<FileStore, number>();
  return async (store: FileStore) => {
    const next = sent.get(store) ?? 0;
    if (next >= values.length || !store.list().includes('r')) return;
    const { name: program } = await summarizeRun(store, 'r');
    if (program === '') return;
    await sendSignal(store, 'r', name, { value: values[next] });
    sent.set(store, next + 1);
  };
}

/** Approves or rejects depending on the request. */
async function decide(store: FileStore, isGood: (request: never) => boolean): Promise<void> {
  if (!store.list().includes('r')) return;
  for (const { id, path, answered, request, signal, until } of (await summarizeRun(store, 'r')).waitingFor)
    if (!answered && signal === undefined && until === undefined)
      await answerApproval(store, 'r', id ?? path, { approved: isGood(request as never) });
}

dieAnywhere('a loop takes each signal once, in order', {
  program: async (world) => {
    const taken: unknown[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const signal = await agent.waitForSignal('item');
      taken.push(signal?.value);
      await world.act(`handle ${signal?.value}`);
    }
    return taken;
  },
  outside: sender('item', ['a', 'b', 'c']),
  check: (result, { effects }) => {
    assert.deepEqual(result, ['a', 'b', 'c']);
    assert.deepEqual([...new Set(effects)], ['handle a', 'handle b', 'handle c']);
  },
});

dieAnywhere('branches share signals of one name: each is given to one of them', {
  program: (world) =>
    Promise.all(
      ['x', 'y', 'z'].map(async (branch) => {
        await world.act(`prepare ${branch}`);
        const value = String((await agent.waitForSignal('work'))?.value);
        await world.act(`work ${value}`, { key: branch });
        return value;
      }),
    ),
  outside: sender('work', ['1', '2', '3']),
  check: (result, { effects }) => {
    assert.deepEqual(sorted(result), ['1', '2', '3']);
    assert.equal(new Set(effects).size, 6);
  },
});

dieAnywhere('who was rejected is never paid, whatever branch comes first', {
  program: (world) =>
    Promise.all(
      ['alice', 'mallory', 'bob'].map(async (who) => {
        await agent.sleep('arrive', Math.random() * 6);
        await world.act('prepare', { key: who });
        const { approved } = await agent.waitForApproval('pay', { who });
        if (!approved) return `${who} rejected`;
        await agent.sleep('cool down', 4);
        await world.act(`pay ${who}`);
        return `${who} paid`;
      }),
    ),
  outside: (store) => decide(store, ({ who }: { who: string }) => who !== 'mallory'),
  check: (result, { effects }) => {
    assert.deepEqual(result, ['alice paid', 'mallory rejected', 'bob paid']);
    assert.ok(!effects.includes('pay mallory'));
  },
});

dieAnywhere('a race between a signal and a time goes the way it went', {
  program: async (world) => {
    const winner = await Promise.race([
      agent.waitForSignal('go').then((signal) => `signal ${signal?.value}`),
      agent.sleep('patience', 12).then(() => 'time'),
    ]);
    await world.act(`then ${winner}`);
    await world.act(`at last ${winner}`);
    return winner;
  },
  outside: async (store, turn) => turn === 3 && sender('go', [1])(store),
  check: (result, { effects }) => {
    assert.deepEqual([...new Set(effects)], [`then ${result}`, `at last ${result}`]);
  },
});

dieAnywhere('a signal that comes too late for one wait is there for the next', {
  program: async (world) => {
    const early = await agent.waitForSignal('news', { timeoutMs: 5 });
    await world.act(early ? 'early' : 'nothing yet');
    const late = early ?? (await agent.waitForSignal('news'));
    return late?.value;
  },
  outside: async (store, turn) => turn > 4 && late(store),
  check: (result) => assert.equal(result, 'n'),
});
const late = sender('news', ['n']);

dieAnywhere('tries with pauses, in nested runs beside each other', {
  program: (world) =>
    Promise.all(
      ['a', 'b'].map((name) =>
        agent.run(`sub ${name}`, async () => {
          const first = await world.act(`flaky ${name}`, { retry: { attempts: 3, delayMs: 2 } }, 2);
          await agent.sleep('breathe', 3);
          return [first, await world.act(`after ${name}`)];
        }),
      ),
    ),
  check: (result, { effects }) => {
    assert.deepEqual(result, [
      ['result of flaky a', 'result of after a'],
      ['result of flaky b', 'result of after b'],
    ]);
    assert.ok(effects.filter((effect) => effect === 'flaky a').length >= 2);
  },
});

dieAnywhere('a loop whose turns end in another order each time', {
  program: async (world) => {
    const results: Record<string, unknown> = {};
    for (const round of [1, 2])
      await Promise.all(
        ['a', 'b', 'c'].map(async (name) => {
          await agent.sleep('jitter', Math.random() * 6);
          results[`${round}${name}`] = await world.act('load', { input: `${round}${name}` });
          results[`${round}${name}`] = await agent.step('shape', () => `${round}${name}`);
        }),
      );
    return results;
  },
  check: (result, { effects }) => {
    const names = ['1a', '1b', '1c', '2a', '2b', '2c'];
    assert.deepEqual(result, Object.fromEntries(names.map((name) => [name, name])));
    assert.ok(effects.length >= 6);
  },
});

dieAnywhere('a step whose time is over, and what is done instead', {
  program: async (world) => {
    const slow = () =>
      agent.step(
        'slow',
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
        { timeoutMs: 5 },
      );
    const outcome = await slow().catch((error: Error) => error.name);
    await world.act(`instead of ${outcome}`);
    return outcome;
  },
  check: (result, { effects }) => {
    assert.equal(result, 'TimeoutError');
    assert.deepEqual([...new Set(effects)], ['instead of TimeoutError']);
  },
});

dieAnywhere('work in doubt is asked for, and what is answered is its result', {
  program: async (world) => {
    const paid = await world.act('pay', { inDoubt: 'ask' });
    return [paid, await world.act('ship')];
  },
  outside: async (store) => {
    if (!store.list().includes('r')) return;
    for (const { id, path, answered } of (await summarizeRun(store, 'r')).waitingFor)
      if (!answered) await answerApproval(store, 'r', id ?? path, { approved: true, value: 'result of pay' });
  },
  check: (result, { effects }) => {
    assert.deepEqual(result, ['result of pay', 'result of ship']);
    assert.ok(effects.filter((effect) => effect === 'pay').length <= 1);
  },
});

test('cancelled after any of its records, it does nothing more', async () => {
  const program = (world: World, enough: (done: number) => void) => async () => {
    for (let turn = 0; turn < 4; turn++) {
      await Promise.all([world.act(`a${turn}`), world.act(`b${turn}`)]);
      enough(turn);
      await agent.sleep('pause', 2);
    }
  };
  for (let at = 3; at <= 24; at += 3) {
    const store = new FileStore(join(folder, `${count++}`));
    const world = new World();
    const options = { id: 'r', durable: true, notify: () => {} } as const;
    const first = agent.run(
      'p',
      { ...options, store: crashingStore(store, at, 'after') },
      program(world, () => {}),
    );
    await assert.rejects(first, /died here/);
    assert.equal(await cancelRun(store, 'r', { reason: 'enough' }), 'cancelled');
    const before = world.effects.length;
    await assert.rejects(
      agent.run(
        'p',
        { ...options, store },
        program(world, () => {}),
      ),
      /cancelled: enough/,
    );
    assert.equal(world.effects.length, before);
  }
});

test('a rollback gives back the signals that came behind it, and asks for answers anew', async () => {
  const store = new FileStore(join(folder, `${count++}`));
  const options = { id: 'r', durable: true, store, notify: () => {} } as const;
  const program = async () => {
    const first = await agent.waitForSignal('news');
    await agent.step('between', () => 1);
    const second = await agent.waitForSignal('news');
    const { approved } = await agent.waitForApproval('go', 'draft');
    return [first?.value, second?.value, approved];
  };
  const life = async (approved: boolean) => {
    const run = agent.run('p', options, program);
    const isAsked = async () =>
      (await summarizeRun(store, 'r').catch(() => undefined))?.waitingFor.some(({ path }) => path === 'go');
    await until(async () => (await isAsked()) === true);
    await answerApproval(store, 'r', 'go', { approved });
    return run;
  };
  const opened = store.open('r');
  opened.release();
  const sending = (async () => {
    await until(async () => (await summarizeRun(store, 'r')).name !== '');
    for (const value of [1, 2]) await sendSignal(store, 'r', 'news', { value });
  })();
  assert.deepEqual(await life(true), [1, 2, true]);
  await sending;
  await rollBack(store, 'r', 'between');
  assert.deepEqual(await life(false), [1, 2, false]);
});
