/**
 * What a program hears of a call that was refused or called off, and acts on, is an outcome like any other: a later process hears
 * the same at the same place. Each program here dies before and after each of its records.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import type { DoubtPolicy, DurableRunOptions, DurableStepOptions } from '../../../src/durable/options.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import { crashingStore, isCrash } from '../random/crashing-store.ts';
import { until } from '../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-called-off-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Program = (effect: (name: string) => void, store: FileStore) => Promise<unknown>;

const nameOf = (error: unknown) => (error as Error).name;
const messageOf = (error: unknown) => (error as Error).message;
const codeOf = (error: unknown) => (error as { code?: string }).code;

let count = 0;
function newRun() {
  const store = new FileStore(join(folder, `dumps-${count++}`));
  const said: string[] = [];
  const options: DurableRunOptions = { id: 'r', durable: true, store, notify: (line) => said.push(line) };
  return { store, said, options };
}

/** `judge` gets the result of the second process and the effects of both; `between`: what happens outside while there is none. */
async function dieEverywhere(
  program: Program,
  judge: (result: unknown, effects: string[]) => void,
  between: (store: FileStore) => unknown = () => {},
): Promise<void> {
  for (const where of ['before', 'after'] as const)
    for (let at = 1, isThrough = false; !isThrough; at++) {
      const { store, options } = newRun();
      const done = new Set<string>();
      const work = () => program((name) => done.add(name), store);
      const mortal = crashingStore(store, at, where);
      isThrough = await agent.run('program', { ...options, store: mortal }, work).then(
        () => true,
        (error: unknown) => {
          assert.ok(isCrash(error), String(error));
          return false;
        },
      );
      await between(store);
      judge(await agent.run('program', options, work), [...done]);
    }
}

test('a step whose result could not be stored is refused, and the run that goes on can be resumed', async () => {
  class Price {}
  const program: Program = async (effect) => {
    const code = await agent.step('price', async () => effect('price'), { returns: Price }).catch(codeOf);
    await agent.step('without', () => effect('without'));
    return code;
  };
  await dieEverywhere(program, (result, effects) =>
    assert.deepEqual([result, ...effects], ['usage', 'without']),
  );
});

test('a step that was called off before it began is not begun by a later process, which is faster', async () => {
  const { options } = newRun();
  const done: string[] = [];
  const program = (isLate: boolean) => async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await agent.step('first', () => done.push('first'));
    if (isLate) controller.abort();
    const heard = await agent
      .step('late', async () => done.push('late'), { signal })
      .then(() => 'done', nameOf);
    await agent.step('then', () => done.push('then'));
    if (isLate) throw new Error('the end of this process');
    return heard;
  };
  await assert.rejects(agent.run('program', options, program(true)), /the end of this process/);
  assert.equal(await agent.run('program', options, program(false)), 'AbortError');
  assert.deepEqual(done, ['first', 'then']);
});

test('a step that its own signal called off has ended: it is not run again', async () => {
  const program: Program = async (effect) => {
    const controller = new AbortController();
    const { signal } = controller;
    const untilCalledOff = () =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const slow = agent.step('slow', untilCalledOff, { signal }).catch(nameOf);
    await agent.step('fast', () => effect('fast'));
    controller.abort();
    const heard = await slow;
    await agent.step('then', () => effect(`then ${heard}`));
    return heard;
  };
  await dieEverywhere(program, (result, effects) =>
    assert.deepEqual([result, ...effects], ['AbortError', 'fast', 'then AbortError']),
  );

  const { options, said } = newRun();
  const again = (work: () => Promise<unknown>, isLast: boolean) => async () => {
    const controller = new AbortController();
    const slow = agent.step('slow', work, { signal: controller.signal }).catch(nameOf);
    await agent.step('fast', () => {});
    controller.abort();
    const heard = await slow;
    await agent.step('then', () => {});
    if (!isLast) throw new Error('the end of this process');
    return heard;
  };
  const first = agent.run(
    'program',
    options,
    again(() => new Promise(() => {}), false),
  );
  await assert.rejects(first, /the end of this process/);
  assert.equal(
    await agent.run(
      'program',
      options,
      again(async () => 'quick', true),
    ),
    'AbortError',
  );
  assert.ok(said.every((line) => !line.includes('in doubt')));
});

test('a step that was called off between two tries has ended, whichever process does it', async () => {
  const program: Program = async (effect) => {
    const controller = new AbortController();
    const { signal } = controller;
    let tries = 0;
    const flaky = async () => {
      if (tries++ > 0) return effect('tried again in vain');
      setImmediate(() => controller.abort());
      throw new Error('busy');
    };
    const retry = { attempts: 9, delayMs: 60_000 };
    const heard = await agent.step('flaky', flaky, { signal, retry }).catch(nameOf);
    await agent.step('then', () => effect(`then ${heard}`));
    return heard;
  };
  await dieEverywhere(program, (result, effects) =>
    assert.deepEqual([result, ...effects], ['AbortError', 'then AbortError']),
  );
});

test('a later process does not try a step again that it calls off before, nor does one after it', async () => {
  for (const state of ['failed once', 'in doubt'] as const) {
    const { options, store } = newRun();
    const retry = { attempts: 9, delayMs: 60_000 };
    const done: string[] = [];
    const life = (isCalledOff: boolean, work: () => Promise<unknown>) => async () => {
      const controller = new AbortController();
      if (isCalledOff) controller.abort();
      const { signal } = controller;
      const heard = await agent.step('flaky', work, { signal, retry }).then(() => 'done', nameOf);
      await agent.step('then', () => done.push(`then ${heard}`));
      if (isCalledOff) throw new Error('the end of this process');
      return heard;
    };
    const busy = async () => {
      throw new Error('busy');
    };
    // Its records: the run begins and opens, the step starts, and fails.
    const mortal = { ...options, store: crashingStore(store, state === 'in doubt' ? 3 : 4, 'after') };
    await assert.rejects(agent.run('program', mortal, life(false, busy)), isCrash);
    const again = async () => done.push('tried again');
    await assert.rejects(agent.run('program', options, life(true, again)), /the end of this process/);
    assert.equal(await agent.run('program', options, life(false, again)), 'AbortError', state);
    assert.deepEqual(done, ['then AbortError']);
  }
});

test('a step that was called off between two tries is tried again if that ended the run', async () => {
  const { options, said } = newRun();
  const controller = new AbortController();
  const busy = () => {
    setImmediate(() => controller.abort());
    throw new Error('busy');
  };
  const retry = { attempts: 9, delayMs: 60_000 };
  const pay = (work: () => unknown, signal?: AbortSignal) => () =>
    agent.step('pay', work, { retry, ...(signal && { signal }) });
  await assert.rejects(agent.run('program', options, pay(busy, controller.signal)), { name: 'AbortError' });
  const paid = () => 'paid';
  assert.equal(await agent.run('program', options, pay(paid)), 'paid');
  // Its last try had failed, so it is known what became of it.
  assert.ok(said.every((line) => !line.includes('in doubt')));
});

test('it is in doubt if that ended the run', async () => {
  const { options, said } = newRun();
  const controller = new AbortController();
  const calledOff = () => {
    controller.abort();
    return new Promise(() => {});
  };
  const program = (work: () => unknown, signal?: AbortSignal) => () =>
    agent.step('pay', work, signal ? { signal } : {});
  await assert.rejects(agent.run('program', options, program(calledOff, controller.signal)), {
    name: 'AbortError',
  });
  const paid = program(() => 'paid');
  assert.equal(await agent.run('program', options, paid), 'paid');
  assert.match(said.join('\n'), /step pay is in doubt: it was called off/);
});

test('a value that could not be stored is an error wherever it is handled, and a doubt where it is not', async () => {
  const handled: Program = async (effect) => {
    const code = await agent
      .step('make', async () => () => {}, { inDoubt: 'skip' })
      .then(() => 'skipped', codeOf);
    await agent.step('then', () => effect(`then ${code}`));
    return code;
  };
  // A death within the step leaves it in doubt, and it is skipped.
  await dieEverywhere(handled, (result, effects) => assert.deepEqual(effects, [`then ${result}`]));

  const { options, said } = newRun();
  const make = (value: unknown) => () => agent.step('make', async () => value);
  await assert.rejects(
    agent.run(
      'program',
      options,
      make(() => {}),
    ),
    { code: 'usage' },
  );
  assert.equal(await agent.run('program', options, make(5)), 5);
  assert.match(said.join('\n'), /step make is in doubt: it had returned, but/);
});

test('a check that failed is what the program acts on; it is asked again if that ended the run', async () => {
  const closed = () => Promise.reject(new Error('closed'));
  const paid = () => ({ result: 'paid' });
  for (const [handles, heard] of [
    [false, ['closed', 'paid']],
    [true, ['the end of this process', 'closed']],
  ] as const) {
    const { options, store } = newRun();
    const life = (inDoubt: DoubtPolicy, isFirst = true) =>
      agent
        .run('program', options, async () => {
          const paying = agent.step('pay', () => new Promise<unknown>(() => {}), { inDoubt });
          const result = await (handles ? paying.catch(messageOf) : paying);
          await agent.step('then', () => {});
          if (handles && isFirst) throw new Error('the end of this process');
          return result;
        })
        .catch(messageOf);
    const mortal = { ...options, store: crashingStore(store, 3, 'after') };
    await assert.rejects(agent.run('program', mortal, () => agent.step('pay', () => {})));
    assert.deepEqual([await life(closed), await life(paid, false)], heard);
  }
});

test('a child that could not be started is an error that stays', async () => {
  const program: Program = async (effect) => {
    const code = await agent.childRun('child', { input: () => {} }).catch(codeOf);
    await agent.step('then', () => effect(`then ${code}`));
    return code;
  };
  await dieEverywhere(program, (result, effects) =>
    assert.deepEqual([result, ...effects], ['usage', 'then usage']),
  );
});

test('a step whose time was over is in doubt if that ended the run', async () => {
  const { options, said } = newRun();
  const program = (work: () => unknown) => () => agent.step('pay', work, { timeoutMs: 20 });
  const stuck = program(() => new Promise(() => {}));
  await assert.rejects(agent.run('program', options, stuck), { name: 'TimeoutError' });
  const paid = program(() => 'paid');
  assert.equal(await agent.run('program', options, paid), 'paid');
  assert.match(said.join('\n'), /step pay is in doubt: its time was over/);
});

/** Answers every open question. */
async function approveAll(store: FileStore): Promise<void> {
  for (const { path } of (await summarizeRun(store, 'r')).waitingFor)
    await answerApproval(store, 'r', path, { approved: true });
}

test('an answer to a question that the program has withdrawn changes nothing', async () => {
  const program: Program = async (effect) => {
    const controller = new AbortController();
    const { signal } = controller;
    const answer = agent.waitForApproval('pay', { sum: 5 }, { signal }).then(() => 'approved', nameOf);
    await agent.step('look', () => effect('look'));
    controller.abort();
    const heard = await answer;
    await agent.step('then', () => effect(`then ${heard}`));
    return heard;
  };
  // Answered before its withdrawal was recorded, it may also be approved.
  const judge = (result: unknown, effects: string[]) => assert.deepEqual(effects, ['look', `then ${result}`]);
  await dieEverywhere(program, judge, approveAll);
});

test('a withdrawn question is asked again if that ended the run', async () => {
  const { store, options } = newRun();
  const ask = (signal?: AbortSignal) => () =>
    agent.waitForApproval('pay', { sum: 5 }, signal ? { signal } : {});
  await assert.rejects(agent.run('program', options, ask(AbortSignal.timeout(20))), { name: 'TimeoutError' });
  const resumed = agent.run('program', options, ask());
  await until(async () => (await summarizeRun(store, 'r')).waitingFor.length === 1);
  await approveAll(store);
  assert.equal((await resumed).approved, true);
});

test('a signal goes to the wait that still wants it', async () => {
  const program: Program = async (_effect, store) => {
    const controller = new AbortController();
    const first = agent.waitForSignal('go', { signal: controller.signal }).catch(nameOf);
    await agent.step('look', () => {});
    controller.abort();
    const heard = await first;
    await agent.step('send', () => sendSignal(store, 'r', 'go', { value: 1 }), { inDoubt: 'skip' });
    return [heard, (await agent.waitForSignal('go', { timeoutMs: 300 }))?.value];
  };
  // A process may have died before it sent the signal.
  await dieEverywhere(program, (result) =>
    assert.match(JSON.stringify(result), /^\["AbortError",(1|null)\]$/),
  );
});

test('a question whose request can not be stored is refused before it has a place', async () => {
  const program: Program = async (effect) => {
    const code = await agent.waitForApproval('pay', { how: () => {} }).catch(codeOf);
    await agent.step('without', () => effect('without'));
    return code;
  };
  await dieEverywhere(program, (result, effects) =>
    assert.deepEqual([result, ...effects], ['usage', 'without']),
  );
});

test('a refused step was never started: a death between its two records leaves it in no doubt', async () => {
  class Price {}
  for (const where of ['before', 'after'] as const)
    for (let at = 1, isThrough = false; !isThrough; at++) {
      const { store, said, options } = newRun();
      const attempts: number[] = [];
      const program = (wish: DurableStepOptions) => async () =>
        agent.step('price', async ({ attempt }) => attempts.push(attempt), wish).catch(codeOf);
      const mortal = { ...options, store: crashingStore(store, at, where) };
      isThrough = await agent.run('program', mortal, program({ returns: Price })).then(
        (code) => code === 'usage',
        () => false,
      );
      const result = await agent.run('program', options, program({}));
      // Called for the first time, unless its refusal was recorded.
      assert.deepEqual(attempts, result === 'usage' ? [] : [1]);
      assert.equal(said.join().includes('in doubt'), false);
    }
});

test('a step in doubt whose class is not registered any more ends with that error in every process', async () => {
  class Price {}
  const { store, said, options } = newRun();
  let calls = 0;
  const program = (wish: DurableStepOptions, isLast: boolean) => async () => {
    const heard = await agent.step('price', async () => calls++, wish).catch(codeOf);
    await agent.step('then', () => {});
    if (!isLast) throw new Error('the end of this process');
    return heard;
  };
  const mortal = { ...options, store: crashingStore(store, 3, 'after') };
  await assert.rejects(agent.run('program', mortal, program({}, false)), isCrash);
  await assert.rejects(
    agent.run('program', options, program({ returns: Price }, false)),
    /the end of this process/,
  );
  assert.match(said.join(), /step price remains in doubt: .*Price/);
  assert.equal(await agent.run('program', options, program({}, true)), 'usage');
  assert.equal(calls, 0);
});
