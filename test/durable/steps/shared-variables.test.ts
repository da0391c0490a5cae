/**
 * Branches whose steps capture a variable that all of them change: a counter, a list of results, a cache. What it was when a call was
 * made does not tell which call it is; a resume gets each branch its own result, or is refused if nothing else tells them apart.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { SharedVariables } from '../../../src/durable/steps/captured/shared-variables.ts';
import { newRun, outcomes } from '../random/killed-runs.ts';

const docs = ['a', 'b', 'c', 'd', 'e'];
/** Something unrecorded, so that the branches come in another order each time. */
const jitter = () => sleep(Math.random() * 8);
const summaryOf = (doc: string) => `summary of ${doc}`;
const summaries = docs.map(summaryOf);

const programs: Record<string, () => Promise<string[]>> = {
  'a counter of what is done': () => {
    const progress = { done: 0 };
    return Promise.all(
      docs.map(async (doc) => {
        await jitter();
        return agent.step('summarize', async () => {
          await jitter();
          progress.done++;
          return summaryOf(doc);
        });
      }),
    );
  },
  'a counter that is raised behind the step': () => {
    let done = 0;
    return Promise.all(
      docs.map(async (doc) => {
        await jitter();
        const got = await agent.step('summarize', async () => {
          await jitter();
          return done < 0 ? '' : summaryOf(doc);
        });
        done++;
        return got;
      }),
    );
  },
  'a list of results': async () => {
    const results: { doc: string; summary: string }[] = [];
    const one = async (doc: string) => {
      await jitter();
      const summary = await agent.step('summarize', async () => {
        await jitter();
        return results.length > 99 ? 'full' : summaryOf(doc);
      });
      results.push({ doc, summary });
    };
    await Promise.all(docs.map(one));
    return docs.map((doc) => results.find((result) => result.doc === doc)!.summary);
  },
  'a cache': () => {
    const cache = new Map<string, string>();
    return Promise.all(
      docs.map(async (doc) => {
        await jitter();
        return agent.step('summarize', async () => {
          await jitter();
          const summary = cache.get(doc) ?? summaryOf(doc);
          cache.set(doc, summary);
          return summary;
        });
      }),
    );
  },
  'how many are at work, and a worker of a pool': async () => {
    const left = [...docs];
    const state = { running: 0, done: 0 };
    const got = new Map<string, string>();
    const worker = async () => {
      for (let doc = left.shift(); doc !== undefined; doc = left.shift()) {
        const mine = doc;
        state.running++;
        await jitter();
        got.set(
          mine,
          await agent.step('summarize', async () => {
            await jitter();
            return `${summaryOf(mine)}${state.done < 0}`;
          }),
        );
        state.running--;
        state.done++;
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    return docs.map((doc) => got.get(doc)!.replace('false', ''));
  },
  'a page that changes, and a counter': () => {
    let done = 0;
    return Promise.all(
      docs.map(async (url) => {
        await jitter();
        const page = `${url} at ${process.hrtime.bigint()}`;
        const got = await agent.step('summarize', async () => (page && done >= 0 ? summaryOf(url) : ''));
        done++;
        return got;
      }),
    );
  },
  'turns of each branch, and a counter': () => {
    const usage = { calls: 0 };
    return Promise.all(
      docs.slice(0, 3).map(async (topic) => {
        const messages = [topic];
        for (let turn = 0; turn < 3; turn++) {
          await jitter();
          const answer = await agent.step('model', async () => {
            await jitter();
            usage.calls++;
            return `${messages.at(-1)}>${turn}`;
          });
          messages.push(answer);
        }
        return messages.at(-1)!;
      }),
    );
  },
};
const expected: Record<string, string[]> = {
  'turns of each branch, and a counter': docs.slice(0, 3).map((topic) => `${topic}>0>1>2`),
};

for (const [name, program] of Object.entries(programs))
  test(`${name}, killed at every record`, async () => {
    for (const got of await outcomes(program)) assert.deepEqual(got, expected[name] ?? summaries);
  });

test('branches that differ in nothing else that is seen get their own results, or are refused', async () => {
  const program = () => {
    const progress = { done: 0 };
    return Promise.all(
      docs.map(async (doc) => {
        await jitter();
        const loading = Promise.resolve(doc);
        return agent.step('summarize', async () => {
          const text = await loading;
          await jitter();
          progress.done++;
          return summaryOf(text);
        });
      }),
    );
  };
  for (const got of await outcomes(program))
    if (typeof got === 'string') assert.match(got, /step summarize: calls in branches/);
    else assert.deepEqual(got, summaries);
});

/** Its field is not seen. */
class Job {
  readonly #doc: string;
  constructor(doc: string) {
    this.#doc = doc;
  }
  get doc(): string {
    return this.#doc;
  }
}

const texts = new Map<object, string>();
const readers: Record<string, (doc: string) => () => string> = {
  'an instance': (doc) => {
    const job = new Job(doc);
    return () => job.doc;
  },
  'a weak map': (doc) => {
    const key = {};
    const texts = new WeakMap([[key, doc]]);
    return () => texts.get(key)!;
  },
  'an object as a key': (doc) => {
    const key = {};
    const texts = new Map([[key, doc]]);
    return () => texts.get(key)!;
  },
  'an equal object as a key, and a variable of the module': (doc) => {
    const key = {};
    texts.set(key, doc);
    return () => texts.get(key)!;
  },
  'the end of a long list': (doc) => {
    const list = Array.from({ length: 300 }, (_, at) => (at < 299 ? '' : doc));
    return () => list[299]!;
  },
};

for (const [what, readerOf] of Object.entries(readers))
  test(`a counter that changes between calls does not tell apart what ${what} hides`, async () => {
    const program = () => {
      let done = 0;
      const one = async (doc: string) => {
        const read = readerOf(doc);
        await sleep(Math.random() * 40);
        const got = await agent.step('summarize', async () => (done < 0 ? '' : summaryOf(read())));
        done++;
        return got;
      };
      return Promise.all(docs.map(one));
    };
    for (const got of [...(await outcomes(program)), ...(await outcomes(program))])
      if (typeof got === 'string') assert.match(got, /step summarize.*\{ key: … \}/s);
      else assert.deepEqual(got, summaries);
  });

test('a reply that comes in the turn in which a step of another branch ends does not take a result', async () => {
  const { live, dieAt } = newRun();
  /** By document, when its text comes; that of the first one comes in the very turn in which the step of another branch returns. */
  const program = (isFirstLate: boolean) => async () => {
    const texts = new Map(docs.map((doc) => [doc, withResolvers()]));
    const page = withResolvers();
    setTimeout(() => {
      page.resolve();
      if (!isFirstLate) texts.get('a')!.resolve();
    }, 5);
    if (isFirstLate) setTimeout(() => texts.get('a')!.resolve(), 60);
    setTimeout(() => texts.get('b')!.resolve(), isFirstLate ? 20 : 10_000).unref();
    const summarize = async (doc: string) => {
      await texts.get(doc)!.promise;
      // As a client does that reads the reply.
      for (let layer = 0; layer < 10; layer++) await undefined;
      return agent.step('summarize', async () => summaryOf(doc));
    };
    const other = agent.step('page', () => page.promise);
    return Promise.all([summarize('a'), summarize('b'), other.then(() => 0)]);
  };
  // Begin, open, the step of the other branch and its end, the step of the first document and its end.
  assert.ok(await dieAt(6, program(false)));
  assert.deepEqual(await live(program(true)), ['summary of a', 'summary of b', 0]);
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('what is one variable for all calls, and has changed, is shared; what each has of its own is not', () => {
  const shared = new SharedVariables();
  const hosts: { host: object; own: number }[] = [];
  let total = 0;
  const note = (own: number, cursor: number) => {
    const host = {};
    hosts.push({ host, own });
    const captured = { own: `${own}`, total: `${total}`, cursor: `${cursor}`, constant: 'c' };
    const values = new Map(Object.entries({ own, total, cursor, constant: 1 }));
    return shared.note({ host, stores: [], captured }, values, (asked) => {
      const { own: its } = hosts.find((one) => one.host === asked.host)!;
      return new Map(Object.entries({ own: its, total, cursor: its, constant: 1 }));
    });
  };
  assert.deepEqual(note(1, 1), []);
  assert.deepEqual(note(2, 2), []);
  total = 5;
  assert.deepEqual(note(3, 3), ['total']);
  assert.deepEqual(note(4, 4), []);
  assert.deepEqual([...shared.names], ['total']);
});
