/** What `agentdump runs <id>` says of runs whose course is known. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { renderStory } from '../../src/cli/commands/runs/render-story.ts';
import { durableAgent as agent } from '../../src/durable/api.ts';
import { enqueueRun } from '../../src/durable/dispatch/act-on-run.ts';
import { answerApproval } from '../../src/durable/inspect.ts';
import { type RunStory, type StoryStep, type StoryWait, tellRun } from '../../src/durable/run-story.ts';
import { FileStore } from '../../src/durable/stores/file-store.ts';
import { crashingStore, isCrash } from './random/crashing-store.ts';
import { until } from './until.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-run-story-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
const newStore = () => new FileStore(join(folder, String(count++)));
const options = { id: 'trip-7', durable: true, notify: () => {} } as const;

const courseOf = (story: Awaited<ReturnType<typeof tellRun>>) =>
  story.course.map(({ kind, path, state }) => `${kind} ${path}: ${state}`);

test('a run that died within a step, and one that failed within a nested run', async () => {
  const store = newStore();
  let isBroken = true;
  const program = async () => {
    await agent.run('planner', {}, async () => {
      await agent.step('plan', async () => 'go');
      if (isBroken) throw new Error('no plan, password=hunter2-and-more');
    });
    await agent.tool('book', { hotel: 'Polar' }, async () => 7);
  };
  await assert.rejects(agent.run('trip', { ...options, store }, program));
  const failed = await tellRun(store, 'trip-7');
  assert.deepEqual(courseOf(failed), ['run run:planner: failed', 'step run:planner/plan: finished']);
  assert.match(failed.error ?? '', /^Error: no plan, password=\[redacted/);
  assert.deepEqual(failed.next, ['agentdump resume trip-7 tries again what failed, and keeps the rest']);
  isBroken = false;
  // Its opening, the start and the end of the nested run, the start of the tool.
  await assert.rejects(
    agent.run('trip', { ...options, store: crashingStore(store, 4, 'after') }, program),
    isCrash,
  );
  const died = await tellRun(store, 'trip-7');
  assert.deepEqual(courseOf(died), [
    'run run:planner: finished',
    'step run:planner/plan: finished',
    'tool tool:book: in doubt',
  ]);
  assert.equal(died.lives.length, 2);
  assert.deepEqual(died.next, [
    'tool:book may have had its effect: its inDoubt decides when the run is resumed',
    'a worker of trip takes it up; without one: agentdump resume trip-7',
  ]);
  const text = renderStory(died);
  assert.match(text, /^trip-7 {2}trip {2}interrupted\n/);
  assert.match(text, /\n +\+[\d.]+ m?s {2}tool {2}tool:book +in doubt\n/);
});

test('a run that waits: for whom, with what request, and how to answer', async () => {
  const store = newStore();
  const ended = agent.run('trip', { ...options, store }, async () => {
    const [{ approved }] = await Promise.all([
      agent.waitForApproval('pay', { who: 'mallory', sum: 999999 }),
      agent.waitForSignal('paid', { timeoutMs: 1 }),
    ]);
    return approved;
  });
  const isOver = ({ course }: RunStory) => course.some(({ state }) => state === 'over');
  await until(() => tellRun(store, 'trip-7').then(isOver, () => false));
  const waiting = await tellRun(store, 'trip-7');
  assert.deepEqual(courseOf(waiting), ['approval pay: waiting', 'signal signal:paid: over']);
  const { id = '', request } = waiting.course[0] as StoryWait;
  assert.deepEqual(request, { who: 'mallory', sum: 999999 });
  assert.equal(waiting.next[0], `agentdump approve trip-7 ${id}, or agentdump reject trip-7 ${id}`);
  assert.match(renderStory(waiting), /waits for a person, id \w+\n +\{"who":"mallory","sum":999999\}\n/);
  await answerApproval(store, 'trip-7', id, { approved: false });
  assert.equal(await ended, false);
  const over = await tellRun(store, 'trip-7');
  assert.deepEqual(over.next, []);
  assert.match(renderStory(over), /approval +pay +rejected( by \S+)? after /);
});

test('a run that nobody has begun, and one that is not there', async () => {
  const store = newStore();
  await enqueueRun(store, 'invoice', { id: 'order-17', input: 1 });
  assert.equal(
    renderStory(await tellRun(store, 'order-17'))
      .split('\n')
      .at(-1),
    '  a worker of invoice begins it',
  );
  await assert.rejects(tellRun(store, 'order-18'), /no run order-18/);
});

test('a run that is over waits for nothing, and a failed one tells its doubts', async () => {
  const finished = newStore();
  await agent.run('trip', { ...options, store: finished }, () =>
    Promise.race([agent.waitForSignal('order paid; rm -rf x'), agent.step('fast', async () => 1)]),
  );
  const story = await tellRun(finished, 'trip-7');
  assert.deepEqual(courseOf(story).sort(), [
    'signal signal:order paid; rm -rf x: called off',
    'step fast: finished',
  ]);
  assert.deepEqual(story.next, []);
  const failed = newStore();
  const error = new Error('no beds\n\nNext\n  agentdump prune --all');
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await assert.rejects(
    agent.run('trip', { ...options, store: failed }, async () => {
      void agent.step('charge', () => held).catch(() => {});
      await agent.step('book', async () => {
        throw error;
      });
    }),
    /no beds/,
  );
  const told = await tellRun(failed, 'trip-7');
  release();
  assert.deepEqual(told.next, [
    'charge may have had its effect: its inDoubt decides when the run is resumed',
    'agentdump resume trip-7 tries again what failed, and keeps the rest',
  ]);
  assert.doesNotMatch(renderStory(told), /^ *agentdump prune/m);
});

test('a step that begins again has no reason any more, and the store is read once', async () => {
  const store = newStore();
  const live = (timeoutMs: number, place = store) =>
    agent.run('trip', { ...options, store: place }, () =>
      agent.step(
        'call',
        ({ signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        {
          timeoutMs,
        },
      ),
    );
  await assert.rejects(live(1));
  const [calledOff] = (await tellRun(store, 'trip-7')).course;
  assert.equal((calledOff as StoryStep).because, 'its time was over');
  // Its opening, the doubt, the start.
  await assert.rejects(live(1, crashingStore(store, 3, 'after') as FileStore), isCrash);
  const reading = Object.create(store) as FileStore;
  let reads = 0;
  reading.read = (id) => {
    reads++;
    return store.read(id);
  };
  const [again] = (await tellRun(reading, 'trip-7')).course;
  assert.deepEqual([again!.state, (again as StoryStep).because, reads], ['in doubt', undefined, 1]);
});
