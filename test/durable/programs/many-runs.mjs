// One of several that work at the same runs and are killed: `worker`, `graphile-worker` and `pg-boss` perform them, `outside`
// queues them and answers their questions. Arguments: which of them, the store's place, a file for what really happened, how many
// runs.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  answerApproval,
  enqueueRun,
  forwardDueRuns,
  openStore,
  performDueRun,
  startWorker,
  summarizeRun,
} from '../../../dist/durable/index.js';
import { agent } from '../../../dist/index.js';

const [role, place, truth, many] = process.argv.slice(2);
const store = await openStore(place);

/** A step with an effect that the world outside sees. */
const act = (run, name, options = {}) =>
  agent.step(
    name,
    async ({ attempt, inDoubt }) => {
      appendFileSync(truth, `${JSON.stringify({ run, name, attempt, inDoubt })}\n`);
      await sleep(1 + Math.random() * 12);
      if (options.fails && attempt === 1) throw new Error('the first try fails');
      return `${name} of ${run}`;
    },
    options,
  );

const programs = {
  plain: async ({ id }) => {
    for (const name of ['one', 'two', 'three']) await act(id, name);
  },
  beside: async ({ id }) => {
    await Promise.all(
      ['one', 'two', 'three'].map(async (name) => {
        await act(id, name);
        await act(id, `${name} more`);
      }),
    );
  },
  asks: async ({ id }) => {
    await act(id, 'one');
    const { approved } = await agent.waitForApproval('go', { id });
    await act(id, approved ? 'two' : 'wrong');
    await agent.waitForApproval('on', { id });
    await act(id, 'three');
  },
  hears: async ({ id }) => {
    await act(id, 'one');
    const values = [];
    for (let turn = 0; turn < 2; turn++) values.push((await agent.waitForSignal('news'))?.value);
    await act(id, values.join() === '1,2' ? 'two' : `wrong: ${values}`);
  },
  naps: async ({ id }) => {
    await act(id, 'one');
    await agent.sleep('short', 30);
    await act(id, 'two', { retry: { attempts: 2, delayMs: 5 }, fails: true });
    await agent.sleep('long', 2_500);
    await act(id, 'three');
  },
  starts: async ({ id }) => {
    await act(id, 'one');
    const start = (number) => agent.childRun('child', { id: `${id}-${number}`, input: { id, number } });
    const numbers = await Promise.all([1, 2].map(start));
    await act(id, numbers.join() === '1,2' ? 'two' : `wrong: ${numbers}`);
  },
  child: async ({ input: { id, number } }) => {
    await act(id, `child ${number}`);
    return number;
  },
};

const options = { notify: () => {}, maxResumes: 1_000_000 };
const peer = createRequire(new URL('../../durable-peers/package.json', import.meta.url));
const perform = ({ id }) => performDueRun(store, id, { programs, options });
const forward = (add) =>
  forwardDueRuns({ store, names: Object.keys(programs), add, everyMs: 50, againMs: 2_000 });

if (role === 'worker') {
  startWorker({ store, programs, everyMs: 50, options });
  console.log('up');
} else if (role === 'graphile-worker') {
  const { Logger, makeWorkerUtils, run } = peer('graphile-worker');
  const common = { connectionString: place, logger: new Logger(() => () => {}) };
  await run({ ...common, concurrency: 4, noHandleSignals: true, taskList: { durable: perform } });
  const utils = await makeWorkerUtils(common);
  forward(({ id }) => utils.addJob('durable', { id }, { jobKey: id }));
  console.log('up');
} else if (role === 'pg-boss') {
  const boss = new (peer('pg-boss'))(place);
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue('durable', { name: 'durable', policy: 'short' });
  for (let one = 0; one < 4; one++)
    await boss.work('durable', { pollingIntervalSeconds: 0.5 }, ([job]) => perform(job.data));
  forward(({ id }) => boss.send('durable', { id }, { singletonKey: id }));
  console.log('up');
} else {
  console.log('up');
  const names = Object.keys(programs).filter((name) => name !== 'child');
  for (let index = 0; index < Number(many); index++)
    await enqueueRun(store, names[index % names.length], { id: `r${index}`, input: index });
  for (;;) {
    for (const id of await store.list())
      for (const { path, answered, signal, until } of (await summarizeRun(store, id)).waitingFor)
        if (!answered && signal === undefined && until === undefined)
          // Another one may have been faster.
          await answerApproval(store, id, path, { approved: true }).catch(() => {});
    await sleep(30);
  }
}
