/**
 * Branches that differ in what an AsyncLocalStorage of the program has in their context, which their functions read and do not capture.
 * Whatever else they capture is equal, so a resume must not take it for what tells them apart.
 */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { newRun, outcomes } from '../random/killed-runs.ts';

const docs = ['a', 'b', 'c', 'd'];
const jitter = () => sleep(Math.random() * 8);
const summaries = docs.map((doc) => `summary of ${doc}`);

class Job {
  readonly #doc: string;
  constructor(doc: string) {
    this.#doc = doc;
  }
  get doc(): string {
    return this.#doc;
  }
}

const context = new AsyncLocalStorage<{ doc: string }>();
const job = new AsyncLocalStorage<Job>();
const shared = new AsyncLocalStorage<{ done: number }>();
const summaryOfContext = () => `summary of ${context.getStore()?.doc}`;

const toldApart: Record<string, () => Promise<string[]>> = {
  'a counter beside it': () => {
    const progress = { done: 0 };
    const summarize = async () => {
      await jitter();
      return agent.step('summarize', async () => {
        const summary = summaryOfContext();
        await jitter();
        progress.done++;
        return summary;
      });
    };
    return Promise.all(docs.map((doc) => context.run({ doc }, summarize)));
  },
  'a constant beside it': () => {
    const model = 'small';
    return Promise.all(
      docs.map((doc) =>
        context.run({ doc }, async () => {
          await jitter();
          return agent.step('summarize', async () => (model ? summaryOfContext() : ''));
        }),
      ),
    );
  },
  'one function for all of them': () => {
    const work = async () => summaryOfContext();
    return Promise.all(
      docs.map(async (doc) => {
        context.enterWith({ doc });
        await jitter();
        return agent.step('summarize', work);
      }),
    );
  },
  'another one, which all of them share and change': () => {
    const progress = { done: 0 };
    return shared.run(progress, () =>
      Promise.all(
        docs.map((doc) =>
          context.run({ doc }, async () => {
            await jitter();
            const got = await agent.step('summarize', async () => {
              await jitter();
              return progress.done < 0 ? '' : summaryOfContext();
            });
            shared.getStore()!.done++;
            return got;
          }),
        ),
      ),
    );
  },
};

const orRefused: Record<string, () => Promise<string[]>> = {
  'an instance whose fields are private': () => {
    const progress = { done: 0 };
    return Promise.all(
      docs.map((doc) =>
        job.run(new Job(doc), async () => {
          await jitter();
          return agent.step('summarize', async () => {
            await jitter();
            progress.done++;
            return `summary of ${job.getStore()?.doc}`;
          });
        }),
      ),
    );
  },
};

for (const [name, program] of Object.entries(toldApart))
  test(`${name}, killed at every record`, async () => {
    for (let round = 0; round < 3; round++)
      for (const got of await outcomes(program)) assert.deepEqual(got, summaries);
  });

for (const [name, program] of Object.entries(orRefused))
  test(`${name}, killed at every record, never gets the result of another`, async () => {
    for (let round = 0; round < 3; round++)
      for (const got of await outcomes(program))
        if (typeof got === 'string') assert.match(got, /step summarize.*in branches.*\{ key: … \}/s);
        else assert.deepEqual(got, summaries);
  });

test('what the run itself was begun with does not tell its branches apart', async () => {
  const { store, live, dieAt } = newRun();
  const program = () =>
    Promise.all(
      docs.map(async (doc) => {
        await jitter();
        return agent.step('summarize', async () => `summary of ${doc}`);
      }),
    );
  assert.ok(await context.run({ doc: 'request 1' }, () => dieAt(7, program)));
  assert.deepEqual(await context.run({ doc: 'request 2' }, () => live(program)), summaries);
  for (const { payload } of store.read('r').records)
    assert.ok(!Buffer.from(payload as Uint8Array).includes('AsyncLocalStorage'));
});
