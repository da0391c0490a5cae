/** Branches of a durable run that continue in another order after a death: their results, questions and changes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { answerApproval, rollBack, summarizeRun } from '../../../src/durable/inspect.ts';
import type { DurableRunWork } from '../../../src/durable/options.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { AgentdumpError } from '../../../src/errors.ts';
import { crashingStore } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-side-by-side-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** A new run: `live` runs a program to its end, `dieAt` to its death at a record. */
function fresh() {
  const store = new FileStore(join(folder, String(count++)));
  const said: string[] = [];
  const options = { id: 'r', durable: true, notify: (line: string) => said.push(line) } as const;
  return {
    store,
    said,
    live: (work: (run: DurableRunWork) => unknown) => agent.run('program', { ...options, store }, work),
    dieAt: (at: number, work: (run: DurableRunWork) => unknown) =>
      assert.rejects(
        agent.run('program', { ...options, store: crashingStore(store, at, 'after') }, work),
        /the process died here/,
      ),
    waiting: async () => (await summarizeRun(store, 'r').catch(() => undefined))?.waitingFor ?? [],
  };
}

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (let turn = 0; turn < 10_000; turn++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  return assert.fail('it never came');
}

const payments = [
  { who: 'alice', sum: 10 },
  { who: 'mallory', sum: 999_999 },
  { who: 'bob', sum: 20 },
];

test('an answer is for the request that was shown, in whatever order the branches come', async () => {
  const { store, live, waiting } = fresh();
  const paid: string[] = [];
  /** `pauses`: how long each branch waits before it asks; the pauses are not recorded. */
  const pay = (pauses: number[]) => () =>
    Promise.all(
      payments.map(async (payment, index) => {
        await sleep(pauses[index]);
        const { approved } = await agent.waitForApproval('pay', payment);
        if (!approved) return 'rejected';
        return agent.step('transfer', () => {
          paid.push(payment.who);
          return payment.who;
        });
      }),
    );
  const controller = new AbortController();
  const first = agent.run(
    'program',
    { id: 'r', durable: true, store, signal: controller.signal, notify: () => {} },
    pay([0, 10, 20]),
  );
  const asked = await until(async () => {
    const open = await waiting();
    return open.length === 3 ? open : undefined;
  });
  // The path of the first one is their common name.
  await assert.rejects(answerApproval(store, 'r', 'pay', { approved: true }), (error: Error) => {
    const shown = asked.map(({ id, request }) => `  ${id}  ${JSON.stringify(request)}`).join('\n');
    assert.equal(error.message, `several questions are called pay: answer one by its id\n${shown}`);
    return true;
  });
  for (const { id, path, request } of asked) {
    const { who } = request as { who: string };
    await answerApproval(store, 'r', path === 'pay#2' ? path : id!, { approved: who !== 'mallory' });
  }
  controller.abort(new Error('the process died'));
  await first.catch(() => {});
  assert.deepEqual(await live(pay([20, 0, 10])), ['alice', 'rejected', 'bob']);
  assert.deepEqual(paid.toSorted(), ['alice', 'bob']);
});

test('a question that was rolled back is asked again', async () => {
  const { store, live, dieAt, waiting } = fresh();
  const sent: string[] = [];
  let draft = 'draft one';
  const program = async () => {
    const text = await agent.step('draft', () => draft);
    const { approved } = await agent.waitForApproval('send', { text });
    if (approved) await agent.step('send', () => sent.push(text));
    return agent.step('close', () => 'done');
  };
  const answer = async () => {
    const open = await until(async () => (await waiting()).find(({ answered }) => !answered));
    await answerApproval(store, 'r', 'send', { approved: true });
    return (open.request as { text: string }).text;
  };
  const first = answer();
  await dieAt(8, program);
  assert.equal(await first, 'draft one');
  assert.deepEqual(sent, ['draft one']);
  await rollBack(store, 'r', 'draft');
  draft = 'draft two';
  const again = live(program);
  assert.equal(await answer(), 'draft two');
  await again;
  assert.deepEqual(sent, ['draft one', 'draft two']);
});

test('a run that was rolled back to before a question asks it again, and only that', async () => {
  const { store, live, waiting } = fresh();
  let drafts = 0;
  const sent: string[] = [];
  const program = async () => {
    const text = await agent.step('draft', () => `draft ${++drafts}`);
    const { approved } = await agent.waitForApproval('send', { text });
    if (approved) await agent.step('mail', () => sent.push(text));
    return approved;
  };
  const answer = async (approved: boolean) => {
    await until(async () => (await waiting()).find(({ answered }) => !answered));
    await answerApproval(store, 'r', 'send', { approved });
  };
  const first = live(program);
  await answer(true);
  assert.equal(await first, true);
  const told = await rollBack(store, 'r', 'send');
  assert.equal(told, 'back to before question send; to be done again: send, mail');
  const again = live(program);
  await answer(false);
  assert.equal(await again, false);
  assert.deepEqual([drafts, sent], [1, ['draft 1']]);
});

test('another request is another question; once the program has gone on with the answer, it has changed', async () => {
  const { store, live, dieAt, said, waiting } = fresh();
  let sum = 10;
  const program = async () => {
    const { approved } = await agent.waitForApproval('pay', { sum });
    const paid = await agent.step('pay', () => `${sum} ${approved}`);
    return agent.step('tell', () => paid);
  };
  // Records: begin, open, asked and, after the person's answer, answered.
  const answered = until(async () => (await waiting())[0]).then(() =>
    answerApproval(store, 'r', 'pay', { approved: true }),
  );
  await dieAt(4, program);
  await answered;
  sum = 99;
  const second = live(program);
  const question = await until(async () => (await waiting())[0]);
  assert.deepEqual(question.request, { sum: 99 });
  await answerApproval(store, 'r', 'pay', { approved: false });
  assert.equal(await second, '99 false');
  assert.equal(said.filter((line) => line.startsWith('run r: waits for pay')).length, 2);

  const late = fresh();
  const yes = until(async () => (await late.waiting())[0]).then(() =>
    answerApproval(late.store, 'r', 'pay', { approved: true }),
  );
  await late.dieAt(6, program);
  await yes;
  sum = 7;
  await assert.rejects(late.live(program), { code: 'changed' });
});

test('each branch gets its own result, though plain steps of one name end in another order', async () => {
  const docs = ['A', 'B', 'C'];
  for (let at = 3; at < 14; at++) {
    const { live, dieAt } = fresh();
    const program = (pauses: number[]) => () =>
      Promise.all(
        docs.map(async (doc, index) => {
          const text = await agent.step('fetch', async () => {
            await sleep(pauses[index]);
            return `text of ${doc}`;
          });
          await sleep(pauses[2 - index]);
          return agent.step('summarize', async () => `summary of the ${text}`);
        }),
      );
    await dieAt(at, program([12, 6, 0]));
    const expected = docs.map((doc) => `summary of the text of ${doc}`);
    assert.deepEqual(await live(program([0, 6, 12])), expected, `death at record ${at}`);
  }
});

test('a race goes the way it went', async () => {
  const { live, dieAt } = fresh();
  const program = async () => {
    const slow = agent.step('slow', () => sleep(20, 'slow'));
    const fast = agent.step('fast', () => sleep(1, 'fast'));
    const first = await Promise.race([slow, fast]);
    const next = await agent.step('next', () => `after ${first}`);
    await Promise.all([slow, fast]);
    return [first, next, await agent.step('last', () => 'last')];
  };
  await dieAt(10, program);
  assert.deepEqual(await live(program), ['fast', 'after fast', 'last']);
});

test('steps that are renamed or gone behind an overlap are noticed, and nothing new is done', async () => {
  const done: string[] = [];
  const program = (names: string[]) => async () => {
    const branch = async (own: string[]) => {
      for (const name of own) await agent.step(name, () => done.push(name));
    };
    await Promise.all([branch(['a', 'b', 'c']), branch(names)]);
    await agent.step('join', () => done.push('join'));
    return agent.step('end', () => 'end');
  };
  for (const changed of [
    ['x', 'renamed', 'z'],
    ['x', 'z'],
    ['x', 'y'],
  ]) {
    const { live, dieAt } = fresh();
    await dieAt(16, program(['x', 'y', 'z']));
    done.length = 0;
    await assert.rejects(live(program(changed)), (error: AgentdumpError) => {
      assert.equal(error.code, 'changed');
      assert.match(error.message, /- \d+ {2}step (y|z), finished/);
      return true;
    });
    assert.deepEqual(done, []);
    assert.equal(await live(program(['x', 'y', 'z'])), 'end');
  }
});

class Job {
  readonly work: () => number;
  constructor(index: number) {
    this.work = () => this.#index;
    this.#index = index;
  }
  readonly #index: number;
}

test('branches that only time tells apart are refused, with what would help', async () => {
  const { live, dieAt } = fresh();
  const program = (pauses: number[], key: boolean) => () =>
    Promise.all(
      pauses.map(async (pause, index) => {
        await sleep(pause);
        const { work } = new Job(index);
        return agent.step('work', work, key ? { key: String(index) } : {});
      }),
    );
  await dieAt(5, program([0, 100, 200], false));
  await assert.rejects(
    live(program([200, 100, 0], false)),
    /told apart by time alone.* Give each a key or an input/s,
  );
  const keyed = fresh();
  await keyed.dieAt(5, program([0, 100, 200], true));
  assert.deepEqual(await keyed.live(program([200, 100, 0], true)), [0, 1, 2]);
});

test('a store that fails later, as one over a network does, leaves no step waiting', async () => {
  for (let at = 3; at < 9; at++) {
    const { store } = fresh();
    const mortal = crashingStore(store, at, 'before');
    const slow = {
      ...mortal,
      open: async (id: string) => {
        const handle = await mortal.open(id);
        return {
          ...handle,
          append: async (...record: Parameters<typeof handle.append>) => {
            await sleep(2);
            return handle.append(...record);
          },
        };
      },
    };
    const program = () =>
      Promise.allSettled(['a', 'b', 'c'].map((name) => agent.step(name, () => sleep(3, name))));
    const options = { id: 'r', durable: true, store: slow, notify: () => {} } as const;
    await assert.rejects(agent.run('program', options, program), /the process died here/);
  }
});

test('a run that waits for a person is taken up as often as it dies', async () => {
  const { store, live } = fresh();
  const program = async () => (await agent.waitForApproval('go', { what: 'all' })).approved;
  for (let life = 0; life < 15; life++) {
    const controller = new AbortController();
    const dying = agent.run(
      'program',
      {
        id: 'r',
        durable: true,
        store: crashingStore(store, 4, 'after'),
        signal: controller.signal,
        notify: () => {},
      },
      program,
    );
    setTimeout(() => controller.abort(new Error('the process died')), 20);
    await dying.catch(() => {});
  }
  await answerApproval(store, 'r', 'go', { approved: true });
  assert.equal(await live(program), true);
});

test('types: what a step returns is awaited, as it is a promise in a durable run', () => {
  const settled = (): Promise<number> => {
    // @ts-expect-error A promise within a durable run.
    const bare: number = agent.step('x', () => 5);
    // @ts-expect-error A promise everywhere, and always true.
    if (agent.version('x')) return Promise.resolve(bare);
    const whole: Promise<number> = agent.step('x', async () => bare);
    return whole;
  };
  assert.equal(typeof settled, 'function');
});

test('branches that begin in another order because of what no record keeps are no change of the program', async () => {
  const { dieAt, live } = fresh();
  const ran: string[] = [];
  /** `first`: the branch that starts first; the other one starts a moment after it has asked. */
  const program = (first: string, names: readonly string[]) => async () => {
    let tellAsked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      tellAsked = resolve;
    });
    const isFirst = (name: string) => name.startsWith(first);
    return Promise.all(
      names.map(async (name) => {
        if (!isFirst(name)) await isAsked;
        await sleep(5);
        const result = agent.step(name, () => {
          ran.push(name);
          return name;
        });
        if (isFirst(name)) void Promise.allSettled(names.length > 1 ? [sleep(5)] : []).then(tellAsked);
        const value = await result;
        return [value, await agent.step(`after ${name}`, () => `after ${value}`)];
      }),
    );
  };
  // Dies when both have begun and ended, one after the other, and nothing after the second is recorded.
  await dieAt(8, program('a', ['a', 'b']));
  assert.deepEqual(await live(program('b', ['a', 'b'])), [
    ['a', 'after a'],
    ['b', 'after b'],
  ]);
  assert.deepEqual(ran, ['a', 'b']);
  // A step that was removed is still noticed.
  const left = fresh();
  await left.dieAt(8, program('a', ['a', 'b']));
  await assert.rejects(left.live(program('b', ['b'])), { code: 'changed' });
});

test('steps that ran one after another and now run side by side are a change, which says so', async () => {
  const { live, dieAt } = fresh();
  const done: string[] = [];
  const step = (name: string) =>
    agent.step(name, () => {
      done.push(name);
      return name;
    });
  const inTurn = async () => {
    for (const name of ['a', 'b', 'c', 'd']) await step(name);
    return 'end';
  };
  await dieAt(9, inTurn);
  const before = [...done];
  await assert.rejects(
    live(() => Promise.all(['a', 'b', 'c', 'd'].map(step))),
    (error: AgentdumpError) => {
      assert.equal(error.code, 'changed');
      assert.match(
        error.message,
        /- 2 {2}step b, finished\n.*\+ 2 {2}step b, in another branch or with another input/,
      );
      return true;
    },
  );
  assert.deepEqual(done, before);
  assert.equal(await live(inTurn), 'end');
  assert.deepEqual(done, ['a', 'b', 'c', 'd']);
});
