/**
 * Steps called by jobs of the program's own queues and listeners, with unrecorded pauses around them. One job at a time: each resumes
 * with its own results, and so do several, unless nothing tells them apart.
 */
import assert from 'node:assert/strict';
import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { outcomes as outcomesOf } from '../random/killed-runs.ts';

type Job<Result> = () => Promise<Result>;
/** Performs a job once it is its turn. */
type Queue = <Result>(job: Job<Result>) => Promise<Result>;

/** As p-limit does it; `wrap` is how it preserves the context of who queued the job. */
function limitOf(concurrency: number, wrap: (run: () => void) => () => void): Queue {
  const queued: (() => void)[] = [];
  let active = 0;
  const next = () => {
    if (active >= concurrency || queued.length === 0) return;
    active++;
    queued.shift()?.();
  };
  return (job) =>
    new Promise((resolve) => {
      const run = async () => {
        const result = job();
        resolve(result);
        await result.catch(() => {});
        active--;
        next();
      };
      queued.push(wrap(run));
      queueMicrotask(next);
    });
}

const throughPromise = (run: () => void) => {
  let begin = () => {};
  new Promise<void>((resolve) => {
    begin = resolve;
  }).then(run);
  return begin;
};

/** Those that wait are woken by who leaves. */
function semaphoreOf(concurrency: number): Queue {
  const waiting: (() => void)[] = [];
  let free = concurrency;
  return async (job) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await job();
    } finally {
      const wake = waiting.shift();
      if (wake) wake();
      else free++;
    }
  };
}

/** Each job is announced by the end of the one before, to a listener that was added before any of them. */
function announced(): Queue {
  const bell = new EventEmitter();
  const queued: Job<void>[] = [];
  let isBusy = false;
  bell.on('next', () => {
    const job = queued.shift();
    isBusy = job !== undefined;
    job?.().then(() => bell.emit('next'));
  });
  return (job) =>
    new Promise((resolve, reject) => {
      queued.push(() => job().then(resolve, reject));
      if (!isBusy) bell.emit('next');
    });
}

const queues: Record<string, (concurrency: number) => Queue> = {
  'p-limit, which binds': (concurrency) => limitOf(concurrency, AsyncResource.bind),
  'p-limit, which resolves': (concurrency) => limitOf(concurrency, throughPromise),
  'p-limit, which calls': (concurrency) => limitOf(concurrency, (run) => run),
  'a semaphore': semaphoreOf,
};

const docs = [0, 1, 2];
const summaries = docs.map((doc) => `summary of text ${doc}`);
const somethingElse = () => readFile(fileURLToPath(import.meta.url));

/** The last thing that a job does is not recorded, so no end of a step wakes the next one. */
const summarize = (doc: number, before: () => Promise<unknown>) => async () => {
  await before();
  const text = await agent.step('fetch', async () => `text ${doc}`);
  await somethingElse();
  const summary = await agent.step('summarize', async () => `summary of ${text}`);
  await somethingElse();
  return summary;
};

const befores = { 'a step': async () => {}, 'something unrecorded': somethingElse };

function programOf(queueOf: () => Queue, before: () => Promise<unknown>): () => Promise<string[]> {
  return () => {
    const queue = queueOf();
    return Promise.all(docs.map((doc) => queue(summarize(doc, before))));
  };
}

/** Of runs that are killed at every third record. */
const outcomes = (program: () => Promise<unknown>) => outcomesOf(program, 3);

for (const [what, before] of Object.entries(befores)) {
  for (const [name, queueOf] of Object.entries(queues))
    test(`${name}, one job at a time, which begins with ${what}`, async () => {
      for (const got of await outcomes(programOf(() => queueOf(1), before))) assert.deepEqual(got, summaries);
    });

  test(`a listener, called when the job before has ended, which begins with ${what}`, async () => {
    for (const got of await outcomes(programOf(announced, before))) assert.deepEqual(got, summaries);
  });

  test(`a loop over jobs that begin with ${what}`, async () => {
    const program = async () => {
      const got: string[] = [];
      for (const doc of docs) got.push(await summarize(doc, before)());
      return got;
    };
    for (const got of await outcomes(program)) assert.deepEqual(got, summaries);
  });
}

for (const [what, before] of Object.entries(befores)) {
  for (const [name, queueOf] of Object.entries(queues))
    test(`${name}, two jobs at a time, which begin with ${what}`, async () => {
      for (const got of await outcomes(programOf(() => queueOf(2), before))) assert.deepEqual(got, summaries);
    });

  test(`workers that take the next document after something unrecorded, and begin with ${what}`, async () => {
    const program = async () => {
      const left = [...docs];
      const got: string[] = [];
      const worker = async () => {
        for (let doc = left.shift(); doc !== undefined; doc = left.shift()) {
          const at = doc;
          await before();
          got[at] = await agent.step('summarize', async () => `summary of text ${at}`);
          await sleep(Math.random() * 10);
        }
      };
      await Promise.all([worker(), worker()]);
      return got;
    };
    for (let times = 0; times < 3; times++)
      for (const got of await outcomes(program)) assert.deepEqual(got, summaries);
  });

  test(`a mapper that begins the next when one has ended, with a helper, and begins with ${what}`, async () => {
    const helped = <Result>(name: string, work: () => Promise<Result>) =>
      agent.step(name, async () => {
        await somethingElse();
        return work();
      });
    const program = async () => {
      const got: string[] = [];
      let at = 0;
      const next = async (): Promise<void> => {
        const doc = docs[at++];
        if (doc === undefined) return;
        await before();
        got[doc] = await helped('summarize', async () => `summary of text ${doc}`);
        await sleep(Math.random() * 10);
        return next();
      };
      await Promise.all([next(), next()]);
      return got;
    };
    for (const got of await outcomes(program)) assert.deepEqual(got, summaries);
  });
}

test('jobs that nothing tells apart never get the result of another, and are refused with what to write', async () => {
  class Job {
    readonly #doc: number;
    constructor(doc: number) {
      this.#doc = doc;
    }
    summarize = async () => `summary of text ${this.#doc}`;
  }
  const program = async () => {
    const queue = semaphoreOf(2);
    const jobs = docs.map((doc) => new Job(doc));
    const perform = async (job: Job) => {
      await somethingElse();
      return agent.step('summarize', () => job.summarize());
    };
    return Promise.all(jobs.map((job) => queue(() => perform(job))));
  };
  for (const got of await outcomes(program))
    if (typeof got === 'string') assert.match(got, /agent\.step\('summarize', …, \{ key: /);
    else assert.deepEqual(got, summaries);
});
