import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { agent } from '../../../src/agent/api/api.ts';
import { type InstalledAgent, installAgent } from '../../../src/agent/install.ts';
import { LateSink } from '../../../src/agent/record/late-sink.ts';
import { EventSink } from '../../../src/agent/record/sink.ts';
import { readAgentEventsPart } from '../../../src/analysis/agent/events.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import { provideAgentPort } from '../../support/agents/agent-host.ts';

let uninstall: (() => void) | undefined;
const policy = { text: (text: string) => text, value: (value: unknown) => value };

function install(captureLlm: 'content' | 'metadata' | 'off' = 'content'): InstalledAgent {
  const installed = installAgent({ sink: new LateSink(() => new EventSink({ policy })), captureLlm });
  const removePort = provideAgentPort(installed.port);
  uninstall = () => {
    removePort();
    installed.uninstall();
  };
  return installed;
}
afterEach(() => {
  uninstall?.();
  uninstall = undefined;
});

const eventsOf = (one: InstalledAgent) => readAgentEventsPart(one.renderPart() ?? assert.fail());
const stateOf = (one: InstalledAgent) => computeAgentState(eventsOf(one));

/** The same program with and without the preload. */
async function program(): Promise<unknown> {
  return agent.run('travel', { id: 'trip-7', config: { model: 'm' } }, async (run) => {
    agent.plan(['book', 'pay']);
    agent.state.set('city', 'Rome');
    agent.state.set('/days', [1]);
    agent.state.patch([{ op: 'add', path: '/days/-', value: 2 }]);
    const flight = await agent.step('book', async () => {
      await delay(1);
      return agent.tool('search', { to: 'Rome' }, async ({ to }) => `flight to ${to}`, { callId: 'call_1' });
    });
    const inner = agent.run('hotel', () => {
      agent.state.set('stars', 4);
      return agent.state.get();
    });
    agent.progress({ done: 1, total: 2 });
    agent.note('half way', { flight });
    const paid = await agent.waitFor('payment', Promise.resolve('paid'));
    return { flight, inner, paid, state: agent.state.get(), city: agent.state.get('city'), run: run.name };
  });
}
const expected = {
  flight: 'flight to Rome',
  inner: { stars: 4 },
  paid: 'paid',
  state: { city: 'Rome', days: [1, 2] },
  city: 'Rome',
  run: 'travel',
};

test('a program gives the same with and without the preload', async () => {
  assert.deepEqual(await program(), expected);
  install();
  assert.deepEqual(await program(), expected);
});

test('runs, steps, tools, state and waits are told as they were', async () => {
  const one = install();
  await program();
  const { runs } = stateOf(one);
  const [travel, hotel] = runs;
  assert.deepEqual(
    [travel?.name, travel?.status, hotel?.name, hotel?.parentId],
    ['travel', 'finished', 'hotel', travel?.id],
  );
  assert.deepEqual(
    travel?.steps.map(({ name, status, result }) => [name, status, result]),
    [['book', 'finished', 'flight to Rome']],
  );
  assert.deepEqual(
    travel.toolCalls.map(({ id, name, status, arguments: given, result, stepId }) => [
      id,
      name,
      status,
      given,
      result,
      stepId,
    ]),
    [['call_1', 'search', 'finished', { to: 'Rome' }, 'flight to Rome', travel.steps[0]?.id]],
  );
  assert.deepEqual(travel.state, { city: 'Rome', days: [1, 2] });
  assert.deepEqual(hotel?.state, { stars: 4 });
  assert.deepEqual(
    [travel.plan, travel.progress?.done, travel.notes?.[0]?.text],
    [['book', 'pay'], 1, 'half way'],
  );
  assert.deepEqual([travel.waits, travel.pending], [undefined, []]);
});

test('what is open at the death is pending, the oldest first', async () => {
  const one = install();
  const never = new Promise<never>(() => undefined);
  void agent.run('outer', async () => {
    await agent.step('first', () => undefined);
    void agent.tool('slow', {}, () => never);
    await delay(5);
    await agent.step('second', () => agent.waitFor('an answer', never));
  });
  await delay(20);
  const [run] = stateOf(one).runs;
  assert.equal(run?.status, 'running');
  assert.deepEqual(
    run.pending.map((line) => line.replace(/[\d.]+ m?s( ago)?$/, '…')),
    ['tool slow (t1), running for …', 'promise an answer for …'],
  );
});

test('errors pass unchanged and are told', async () => {
  const one = install();
  const failure = new TypeError('broken');
  assert.throws(() => agent.step('sync', () => assert.fail(failure)), failure);
  await assert.rejects(
    agent.run('run', () => agent.tool('t', {}, async () => Promise.reject(failure))),
    failure,
  );
  const { runs } = stateOf(one);
  const run = runs.find(({ name }) => name === 'run');
  assert.deepEqual([run?.status, run?.error], ['failed', { type: 'TypeError', message: 'broken' }]);
  assert.deepEqual(run?.toolCalls[0]?.error, { type: 'TypeError', message: 'broken' });
  const implicit = runs.find(({ implicit }) => implicit);
  assert.deepEqual([implicit?.steps[0]?.status, implicit?.steps[0]?.error?.message], ['failed', 'broken']);
});

test('parallel runs keep their own steps and state', async () => {
  const one = install();
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      agent.run(name, async () => {
        for (let i = 0; i < 5; i++)
          await agent.step(`${name}${i}`, async () => agent.state.set('last', `${name}${i}`));
      }),
    ),
  );
  for (const run of stateOf(one).runs) {
    assert.deepEqual(
      run.steps.map((step) => step.name),
      [0, 1, 2, 3, 4].map((i) => `${run.name}${i}`),
    );
    assert.deepEqual(run.state, { last: `${run.name}4` });
  }
});

test('a lock has one holder, in the order of asking; the holder of a wait is named', async () => {
  const one = install();
  const order: string[] = [];
  const held = await agent.run('first', () => agent.lock('db'));
  const second = agent.run('second', () => agent.lock('db', () => order.push('second')));
  const third = agent.run('third', () => agent.lock('db', () => order.push('third')));
  await delay(1);
  const waiting = stateOf(one).runs.find(({ name }) => name === 'second');
  assert.deepEqual(
    [waiting?.waits?.[0]?.kind, waiting?.waits?.[0]?.heldBy, waiting?.status],
    ['lock', 'r1', 'waiting'],
  );
  held.release();
  held.release();
  await Promise.all([second, third]);
  assert.deepEqual(order, ['second', 'third']);
  await assert.rejects(
    agent.lock('db', () => assert.fail('in the lock')),
    /in the lock/,
  );
  assert.equal(await agent.lock('db', () => 'free again'), 'free again');
});

test('state that leads nowhere throws a RangeError and changes nothing', () => {
  install();
  agent.run('r', () => {
    agent.state.set('a', 1);
    assert.throws(() => agent.state.set('/x/y', 1), RangeError);
    assert.throws(
      () =>
        agent.state.patch([
          { op: 'replace', path: '/a', value: 2 },
          { op: 'remove', path: '/none' },
        ]),
      RangeError,
    );
    assert.deepEqual(agent.state.get(), { a: 1 });
  });
});

test('metadata only: names and timing, no arguments, results or messages', async () => {
  const one = install('metadata');
  await agent.run('r', async () => {
    agent.message('user', 'my secret wish');
    await agent.tool('search', { q: 'my secret wish' }, async () => 'my secret wish');
  });
  assert.doesNotMatch(one.renderPart() ?? assert.fail(), /secret wish/);
  assert.equal(stateOf(one).runs[0]?.toolCalls[0]?.status, 'finished');
});
