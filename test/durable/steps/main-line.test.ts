/**
 * A call of the code that the run awaits is the only one at its position, so it is the recorded one although its function captures what
 * is different in every process, such as a time. A call of a branch is not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { isOnMainLine } from '../../../src/durable/steps/captured/main-line.ts';
import type { FileStore } from '../../../src/durable/stores/file-store.ts';
import { newRun } from '../random/killed-runs.ts';

let clock = 0;

/** Two steps side by side, something unrecorded, and a step that captures a time. */
const savesAtTheEnd = async () => {
  const startedAt = ++clock;
  const [one, two] = await Promise.all([agent.step('one', async () => 1), agent.step('two', async () => 2)]);
  await sleep(5);
  const page = `read at ${startedAt}`;
  const saved = await agent.step('save', () => ({ sum: one + two, isOf: page }));
  await sleep(5);
  await agent.step('tell', () => saved.isOf.length + startedAt);
  return saved.sum;
};

test('a step behind a join and a pause that captures a time, killed after each record', async () => {
  for (let at = 3; ; at++) {
    const { dieAt, live, lines } = newRun();
    const isDead = await dieAt(at, savesAtTheEnd);
    assert.equal(await live(savesAtTheEnd), 3, `killed after record ${at}`);
    if (!isDead) break;
    if (at === 9)
      assert.ok(
        lines.some((line) => /save.*startedAt|save.*page/.test(line)),
        lines.join('\n'),
      );
  }
});

test('a helper, a generator and a nested run that the run awaits, killed after each record', async () => {
  const helper = async (seen: number) => {
    await sleep(2);
    return agent.step('help', () => seen > 0);
  };
  const pages = async function* () {
    await sleep(2);
    yield ++clock;
  };
  const program = async () => {
    await Promise.all([agent.step('one', async () => 1), agent.step('two', async () => 2)]);
    const helped = await helper(++clock);
    for await (const page of pages()) await agent.step('page', () => page > 0);
    const sub = await agent.run('sub', async () => {
      const at = ++clock;
      await Promise.all([agent.step('a', async () => 1), agent.step('b', async () => 2)]);
      await sleep(2);
      return agent.step('c', () => at > 0);
    });
    return [helped, sub];
  };
  for (let at = 3; ; at++) {
    const { dieAt, live } = newRun();
    const isDead = await dieAt(at, program);
    assert.deepEqual(await live(program), [true, true], `killed after record ${at}`);
    if (!isDead) break;
  }
});

test('a loop whose function captures two times besides its document, killed after each record', async () => {
  const program = async () => {
    const [startedAt, id] = [++clock, `of ${clock}`];
    await Promise.all([agent.step('one', async () => 1), agent.step('two', async () => 2)]);
    const handle = async (doc: string) => {
      await sleep(2);
      return agent.step('handle', () => `${doc} handled${startedAt > 0 && id !== '' ? '' : '?'}`);
    };
    const handled: string[] = [];
    for (const doc of ['a', 'b', 'c']) handled.push(await handle(doc));
    return handled;
  };
  for (let at = 3; ; at++) {
    const { dieAt, live } = newRun();
    const isDead = await dieAt(at, program);
    assert.deepEqual(
      await live(program),
      ['a handled', 'b handled', 'c handled'],
      `killed after record ${at}`,
    );
    if (!isDead) break;
  }
});

test('a branch does not take the record of another one for that', async () => {
  const { dieAt, live } = newRun();
  const program = (order: string[]) => async () => {
    await Promise.all([agent.step('one', async () => 1), agent.step('two', async () => 2)]);
    const read = async (page: string, pauseMs: number) => {
      await sleep(pauseMs);
      return agent.step('read', () => `${page} read`);
    };
    return Promise.all(order.map((page, index) => read(page, 1 + index * 20)));
  };
  assert.ok(await dieAt(8, program(['a', 'b'])));
  const outcome = await live(program(['c', 'b'])).then(String, (error) => error.code);
  assert.ok(outcome === 'c read,b read' || outcome === 'changed', outcome);
});

test('branches that ask after a pause, killed after each record, and coming in another order: each is asked once', async () => {
  const sums = { anna: 10, mallory: 999_999, otto: 20 };
  const program = (order: readonly string[]) => async () => {
    const paid: string[] = [];
    const pay = async (who: string, at: number) => {
      await sleep(1 + at * 8);
      const { approved } = await agent.waitForApproval('pay', { who });
      if (approved) paid.push(await agent.step('paid', () => who, { key: who }));
    };
    await Promise.all(order.map((who, at) => pay(who, at)));
    return paid.sort();
  };
  for (let at = 4; ; at++) {
    const { dieAt, live, store, lines } = newRun();
    const { stop } = answer(store, sums);
    const isDead = await dieAt(at, program(['mallory', 'otto', 'anna']));
    assert.deepEqual(
      await live(program(['anna', 'mallory', 'otto'])),
      ['anna', 'otto'],
      `after record ${at}`,
    );
    await stop();
    const asked = lines.filter((line) => line.includes('waits for pay'));
    assert.ok(asked.length <= 3, asked.join());
    if (!isDead) break;
  }
});

/** A person who approves small sums, by the request. */
function answer(store: FileStore, sums: Record<string, number>) {
  let isStopped = false;
  const answering = (async () => {
    for (; !isStopped; await sleep(3)) {
      const { waitingFor } = await summarizeRun(store, 'r').catch(() => ({ waitingFor: [] }));
      for (const { id = '', answered, request } of waitingFor) {
        const approved = (sums[(request as { who: string }).who] ?? 0) < 1_000;
        if (!answered) await answerApproval(store, 'r', id, { approved }).catch(() => {});
      }
    }
  })();
  return {
    stop: () => {
      isStopped = true;
      return answering;
    },
  };
}

test('what V8 tells of the call', async () => {
  const told: [string, boolean][] = [];
  const say = (what: string) => told.push([what, isOnMainLine()]);
  const { live } = newRun();
  await live(async () => {
    await sleep(1);
    say('the run');
    await (async () => {
      await sleep(1);
      say('a function that it awaits');
    })();
    await Promise.all([1, 2].map(async () => say(await sleep(1, 'a branch of Promise.all'))));
    await Promise.any([1, 2].map(async () => say(await sleep(1, 'a branch of Promise.any'))));
    await Promise.allSettled([1, 2].map(async () => say(await sleep(1, 'a branch of Promise.allSettled'))));
    const later = (async () => say(await sleep(1, 'a branch that is awaited later')))();
    await sleep(5);
    await later;
    await new Promise<void>((resolve) =>
      setTimeout(async () => {
        say(await sleep(1, 'a callback'));
        resolve();
      }, 1),
    );
    say('the run, after them');
  });
  const main = told.filter(([, isMain]) => isMain).map(([what]) => what);
  assert.deepEqual(main, ['the run', 'a function that it awaits', 'the run, after them']);
  assert.equal(told.length, 11);
});
