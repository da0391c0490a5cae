/**
 * A step that failed the run and has steps of its own is run again by a resume, and may take another course within, however much
 * is recorded behind its failure.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { answerApproval, codecForLooking, rollBack } from '../../../src/durable/inspect.ts';
import { explainByFailure } from '../../../src/durable/runs/failed-before.ts';
import { newEntry } from '../../../src/durable/runs/log-entries.ts';
import { RunLog } from '../../../src/durable/runs/run-log.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { AgentdumpError } from '../../../src/errors.ts';
import { crashingStore, isCrash } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-failed-within-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
const newStore = () => new FileStore(join(folder, String(count++)));

type Within = (work: () => Promise<unknown>) => Promise<unknown>;
const containers: Record<string, Within> = {
  'a nested run': (work) => agent.run('inner', {}, work),
  'a step': (work) => agent.step('inner', work),
  'a nested run in a step': (work) => agent.step('outer step', () => agent.run('inner', {}, work)),
  'a step with tries': (work) => agent.step('inner', work, { retry: { attempts: 2, delayMs: 1 } }),
};

/** Every effect, in the order in which they were begun. */
let effects: string[] = [];
const effect = (name: string) =>
  agent.step(name, async () => {
    effects.push(name);
    return name;
  });

/** Fails its first life; then killed at each record, and resumed. */
async function eachLife(program: (isBroken: boolean) => Promise<unknown>, check: (got: unknown) => void) {
  for (let at = 2, dies = true; dies; at++) {
    const store = newStore();
    effects = [];
    let isBroken = true;
    const live = (place = store as Parameters<typeof crashingStore>[0]) =>
      agent.run('program', { id: 'r', durable: true, notify: () => {}, store: place }, () =>
        program(isBroken),
      );
    await assert.rejects(live(), /broken/);
    isBroken = false;
    dies = await live(crashingStore(store, at, 'after')).then(() => false, isCrash);
    check(await live());
  }
}

for (const [kind, within] of Object.entries(containers)) {
  test(`${kind} that failed the run waits for one whose end is recorded behind its failure`, async () => {
    const store = newStore();
    effects = [];
    let isBroken = true;
    const live = () =>
      agent.run('program', { id: 'r', durable: true, notify: () => {}, store }, async () => {
        const login = agent.step('login', async () => {
          await sleep(30);
          return 'token';
        });
        const work = within(async () => {
          await effect('begun');
          if (isBroken) throw new Error('broken');
          return `with ${await login}`;
        });
        await Promise.allSettled([login, work]);
        return work;
      });
    await assert.rejects(live(), /broken/);
    isBroken = false;
    assert.equal(await live(), 'with token');
    assert.equal(await live(), 'with token');
  });

  test(`${kind} that failed the run begins a new step within itself`, () =>
    eachLife(
      async (isBroken) => {
        await within(async () => {
          await effect('paid');
          if (isBroken) throw new Error('broken');
          await effect('sent');
          return effect('filed');
        });
        return effect('after');
      },
      (got) => {
        assert.equal(got, 'after');
        assert.equal(effects.filter((one) => one === 'paid').length, kind === 'a step with tries' ? 2 : 1);
        assert.deepEqual([...new Set(effects)], ['paid', 'sent', 'filed', 'after']);
      },
    ));

  test(`${kind} that failed the run, and whose failure has let a queue go on`, () =>
    eachLife(
      async (isBroken) => {
        let wake = () => {};
        const hasEnded = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const first = within(async () => {
          await effect('paid');
          if (isBroken) throw new Error('broken');
          return effect('sent');
        }).finally(() => wake());
        const second = hasEnded.then(() => effect('second'));
        await Promise.all([first, second]);
        return effect('after');
      },
      (got) => {
        assert.equal(got, 'after');
        assert.deepEqual([...new Set(effects)].sort(), ['after', 'paid', 'second', 'sent']);
      },
    ));

  test(`${kind} that failed the run beside others asks a person within itself`, async () => {
    const store = newStore();
    effects = [];
    let isBroken = true;
    const live = () =>
      agent.run('program', { id: 'r', durable: true, notify: () => {}, store }, async () => {
        const [answer] = await Promise.all([
          within(async () => {
            await effect('draft');
            if (isBroken) throw new Error('broken');
            return agent.waitForApproval('send', { to: 'oslo' });
          }),
          effect('beside').then(() => effect('behind it')),
        ]);
        return (answer as { approved: boolean }).approved;
      });
    await assert.rejects(live(), /broken/);
    isBroken = false;
    const done = live();
    while (
      !(await answerApproval(store, 'r', 'send', { approved: true }).then(
        () => true,
        () => false,
      ))
    )
      await sleep(300);
    assert.equal(await done, true);
    assert.equal(await live(), true);
  });
}

test('a step that failed the run, had let a queue go on, and is killed when it is run again', () =>
  eachLife(
    async (isBroken) => {
      let wake = () => {};
      const hasEnded = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const first = agent
        .step('first', async () => {
          effects.push('first');
          if (isBroken) throw new Error('broken');
        })
        .finally(() => wake());
      await Promise.all([first, hasEnded.then(() => effect('second'))]);
      return effect('after');
    },
    (got) => {
      assert.equal(got, 'after');
      assert.deepEqual([...new Set(effects)].sort(), ['after', 'first', 'second']);
    },
  ));

test('a step whose failure was followed by a clean-up is refused with the rollback, which does both again', async () => {
  const store = newStore();
  effects = [];
  let isBroken = true;
  const live = () =>
    agent.run('program', { id: 'r', durable: true, notify: () => {}, store }, async () => {
      await effect('reserve');
      try {
        await agent.step('charge', async () => {
          if (isBroken) throw new Error('broken');
        });
      } catch (error) {
        await effect('release');
        throw error;
      }
      return effect('after');
    });
  await assert.rejects(live(), /broken/);
  isBroken = false;
  await assert.rejects(
    live(),
    /release is recorded after charge had failed .*`agentdump rollback r --to charge`/,
  );
  await rollBack(store, 'r', 'charge');
  assert.equal(await live(), 'after');
  assert.deepEqual(effects, ['reserve', 'release', 'after']);
});

test('a failure is named as the cause only if its step is run again', () => {
  const log = new RunLog([], codecForLooking([]));
  const charge = { ...newEntry('charge', 'step', 3), state: 'void' as const, endSeq: 4 };
  log.steps.set('charge', charge).set('release', newEntry('release', 'step', 5));
  const changed = new AgentdumpError('changed', 'the program has changed', { expected: 'release' });
  assert.equal(explainByFailure({ id: 'r', log }, changed), changed);
  charge.isClaimed = true;
  assert.match(explainByFailure({ id: 'r', log }, changed).message, /rollback r --to charge/);
});

test('a step that failed the run, and is not called any more, is refused with the rollback to it', async () => {
  const store = newStore();
  effects = [];
  let isBroken = true;
  const live = () =>
    agent.run('program', { id: 'r', durable: true, notify: () => {}, store }, async () => {
      await effect('reserve');
      if (!isBroken) return effect('transfer');
      return agent.step('charge', () => Promise.reject(new Error('broken')));
    });
  await assert.rejects(live(), /broken/);
  isBroken = false;
  await assert.rejects(live(), /charge had failed the run .*`agentdump rollback r --to charge`/);
  await rollBack(store, 'r', 'charge');
  assert.equal(await live(), 'transfer');
  assert.deepEqual(effects, ['reserve', 'transfer']);
});
