/**
 * Calls of one name that follow something unrecorded (a file, a reply), so that only their order distinguishes them: those of a loop
 * are the recorded ones in turn, and those of branches are refused.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import type { DoubtPolicy, DurableWork } from '../../../src/durable/options.ts';
import { newRun } from '../random/killed-runs.ts';

const pauses = {
  'a timer': () => sleep(2),
  'a file': () => readFile(fileURLToPath(import.meta.url)),
  'another turn': () => new Promise((resolve) => setImmediate(resolve)),
};
for (const [what, pause] of Object.entries(pauses))
  test(`a loop over a function that waits for ${what} before its first step, killed after each record`, async () => {
    const done: number[] = [];
    const handle = async (doc: number) => {
      await pause();
      const text = await agent.step('fetch', () => {
        done.push(doc);
        return `text ${doc}`;
      });
      await pause();
      return agent.step('summarize', () => `summary of ${text}`);
    };
    const program = async () => {
      const texts: string[] = [];
      for (let doc = 0; doc < 3; doc++) texts.push(await handle(doc));
      return texts;
    };
    for (let at = 3, dies = true; dies; at++) {
      const { live, dieAt } = newRun();
      done.length = 0;
      dies = await dieAt(at, program);
      assert.deepEqual(
        await live(program),
        [0, 1, 2].map((doc) => `summary of text ${doc}`),
      );
      assert.deepEqual([...new Set(done)], [0, 1, 2]);
    }
  });

test('a loop over a function that waits for a file before its signal', async () => {
  const next = async () => {
    await pauses['a file']();
    return (await agent.waitForSignal('mail'))?.value;
  };
  const program = async () => [await next(), await next(), await next()];
  for (let at = 4, dies = true; dies; at++) {
    const { store, live, dieAt } = newRun();
    const isDead = dieAt(at, program);
    for (const value of [1, 2, 3])
      while (
        !(await sendSignal(store, 'r', 'mail', { value }).then(
          () => true,
          () => false,
        ))
      )
        await sleep(2);
    dies = await isDead;
    assert.deepEqual(await live(program), [1, 2, 3]);
  }
});

/** What is private to it does not tell its calls apart. */
class Job {
  readonly #index: number;
  constructor(index: number) {
    this.#index = index;
  }
  work(): number {
    return this.#index;
  }
}

const branches = (workOf: (index: number) => () => number) => (waits: number[]) => () =>
  Promise.all(
    waits.map(async (ms, index) => {
      const work = workOf(index);
      await sleep(ms);
      return agent.step('work', work);
    }),
  );
const unlike = branches((index) => () => index);
const alike = branches((index) => {
  const job = new Job(index);
  return () => job.work();
});

test('branches of which one is recorded: another that comes first does not get its result', async () => {
  const { live, dieAt } = newRun();
  assert.ok(await dieAt(4, alike([0, 200])));
  await assert.rejects(live(alike([60, 0])), /told apart by time alone/);
  const told = newRun();
  assert.ok(await told.dieAt(4, unlike([0, 200])));
  assert.deepEqual(await told.live(unlike([60, 0])), [0, 1]);
});

test('branches whose functions capture also what has changed since', async () => {
  let life = 0;
  const program = (waits: number[]) => () =>
    Promise.all(
      waits.map(async (ms, index) => {
        await sleep(ms);
        const page = `page ${index} of life ${life}`;
        return agent.step('work', () => (page === '' ? -1 : index));
      }),
    );
  for (let at = 3, dies = true; dies; at++) {
    const { live, dieAt } = newRun();
    life = 1;
    dies = await dieAt(at, program([0, 20, 40]));
    life = 2;
    assert.deepEqual(await live(program([30, 10, 0])), [0, 1, 2]);
  }
});

const pages = [
  { url: 'a', language: 'en' },
  { url: 'b', language: 'de' },
  { url: 'c', language: 'en' },
];
const replaced = {
  'the only one that is recorded': [pages.slice(0, 1), [{ url: 'd', language: 'en' }]],
  'one of several, of which another has the same language': [pages, [{ url: 'd', language: 'en' }]],
} as const;
for (const [what, [before, now]] of Object.entries(replaced))
  test(`what a branch has in common with ${what} does not give it the result of that one, whose page is gone`, async () => {
    const program = (wanted: readonly { url: string; language: string }[]) => async () => {
      const model = 'small';
      const other = agent.step('other', () => sleep(60));
      const results = wanted.map(async ({ url, language }) => {
        await sleep(5);
        return agent.step('summarize', () => `${model} summary of ${url} in ${language}`);
      });
      return Promise.all([...results, other]);
    };
    const { live, dieAt } = newRun();
    // Begin, open, the step beside them, two for each page.
    assert.ok(await dieAt(3 + 2 * before.length, program(before)));
    const again = [...before.slice(1), ...now];
    await assert.rejects(live(program(again)), /asks for other steps.*\{ key: … \}/s);
  });

test('a step behind a call of its own branch is known by that, although an object that it captures has changed', async () => {
  let life = 1;
  const program = async () => {
    const client = { life, ask: () => 'asked' };
    const branch = async (doc: string) => {
      await agent.tool('open', { doc }, () => null);
      await sleep(5);
      return agent.step(`read ${doc}`, () => `${doc} ${client.ask()}`);
    };
    return Promise.all(['a', 'b'].map(branch));
  };
  for (let at = 3; ; at++) {
    const { live, dieAt } = newRun();
    life = 1;
    const dies = await dieAt(at, program);
    life = 2;
    assert.deepEqual(await live(program), ['a asked', 'b asked']);
    if (!dies) break;
  }
});

test('one whose page has changed since is known by what no other has', async () => {
  let life = 1;
  const program = async () => {
    const other = agent.step('other', () => sleep(60));
    const results = pages.map(async ({ url }) => {
      await sleep(5);
      const text = url === 'c' ? `text ${life}` : 'text';
      return agent.step('summarize', () => `${url}: ${text}`);
    });
    return (await Promise.all([...results, other])).slice(0, 3);
  };
  const { live, dieAt } = newRun();
  assert.ok(await dieAt(9, program));
  life = 2;
  assert.deepEqual(await live(program), ['a: text', 'b: text', 'c: text 1']);
});

test('a step that follows another of its name at once, whose functions capture what has changed since', async () => {
  let life = 0;
  const program = async () => {
    const seen = { life };
    await sleep(1);
    const first = await agent.step('work', () => (seen.life > 0 ? 'first' : ''));
    return [first, await agent.step('work', () => (seen.life > 0 ? 'second' : ''))];
  };
  for (let at = 3, dies = true; dies; at++) {
    const { live, dieAt } = newRun();
    life++;
    dies = await dieAt(at, program);
    life++;
    assert.deepEqual(await live(program), ['first', 'second']);
  }
});

let numbers = 0;
const next = () => ++numbers;

test('branches that capture the same may have the results of each other', async () => {
  const program = (waits: number[]) => () =>
    Promise.all(
      waits.map(async (ms) => {
        await sleep(ms);
        const what = 'a number';
        return agent.step('work', () => [what, next()]);
      }),
    );
  const { live, dieAt } = newRun();
  assert.ok(await dieAt(6, program([0, 20, 40])));
  const got = await live(program([20, 0, 10]));
  assert.deepEqual((got as [string, number][]).map(([, number]) => number).sort(), [1, 2, 3]);
});

/** A server in the process of the run, with one connection that stays open, as a browser's does. */
async function serving<Result>(
  work: (url: string, connectIdly: () => void) => Promise<Result>,
): Promise<Result> {
  const server = createServer(({ url }, response) => response.end(`text of ${url}`));
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await work(`http://127.0.0.1:${port}`, () => connect(port, '127.0.0.1').unref());
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const texts = [0, 1, 2].map((doc) => `summary of text of /${doc}`);
const summaryOf = async (url: string, doc: number) => {
  const text = await (await fetch(`${url}/${doc}`)).text();
  return agent.step('summarize', () => sleep(2, `summary of ${text}`));
};

test('a loop over a function that asks a server of its own process, to which a connection stays open', () =>
  serving(async (url, connectIdly) => {
    const program = async () => {
      connectIdly();
      const got: string[] = [];
      for (const doc of [0, 1, 2]) got.push(await summaryOf(url, doc));
      return got;
    };
    for (let at = 3, dies = true; dies; at++) {
      const { live, dieAt } = newRun();
      dies = await dieAt(at, program);
      assert.deepEqual(await live(program), texts);
    }
  }));

test('branches of such a program get their own results', () =>
  serving(async (url, connectIdly) => {
    const program = () => {
      connectIdly();
      return Promise.all([0, 1, 2].map((doc) => summaryOf(url, doc)));
    };
    for (let at = 3, dies = true; dies; at++) {
      const { live, dieAt } = newRun();
      dies = await dieAt(at, program);
      assert.deepEqual(await live(program), texts);
    }
  }));

test('branches that were recorded one after the other, and come the other way round when nothing seems to be at work', async () => {
  const opened = new Set<number>();
  const got: (number | undefined)[] = [];
  const { live, dieAt } = newRun();
  /** By a timer of the host, which was there before the run. */
  const inOrder = (first: number, second: number) => {
    opened.clear();
    got.length = 0;
    const opener = setInterval(() => opened.add(got[first] === undefined ? first : second), 1);
    const waiting = new Map<number, () => void>();
    const waker = setInterval(() => {
      for (const index of opened) waiting.get(index)?.();
    }, 1);
    const program = () =>
      Promise.all(
        [0, 1].map(async (index) => {
          await new Promise<void>((resolve) => waiting.set(index, resolve));
          const job = new Job(index);
          got[index] = await agent.step('work', () => job.work());
        }),
      );
    const end = () => [opener, waker].forEach(clearInterval);
    return { program, end };
  };
  const recorded = inOrder(0, 1);
  assert.ok(await dieAt(6, recorded.program).finally(recorded.end));
  const swapped = inOrder(1, 0);
  await assert.rejects(live(swapped.program).finally(swapped.end), /told apart by time alone/);
});

/** What is to happen with a step in doubt. */
const doubts: Record<string, DoubtPolicy> = {
  'looked up outside': () => ({ result: 'as found at the bank' }),
  'run again': 'retry',
};
for (const [how, inDoubt] of Object.entries(doubts))
  test(`branches of which one is in doubt and ${how}: another that comes first does not take its place`, async () => {
    const begun: string[] = [];
    const program = (waits: number[]) => () =>
      Promise.all(
        waits.map(async (ms, index) => {
          await sleep(ms);
          const job = new Job(index);
          const charge = ({ effect }: DurableWork) => {
            begun.push(`${job.work()} with ${effect.key}`);
            return `charge of branch ${job.work()}`;
          };
          return agent.step('charge', charge, { inDoubt });
        }),
      );
    const { live, dieAt } = newRun();
    assert.ok(await dieAt(3, program([0, 200])));
    await assert.rejects(live(program([60, 0])), /told apart by time alone/);
    assert.deepEqual(begun, []);
  });

test('a loop whose last turn is in doubt goes on with it', async () => {
  const begun: string[] = [];
  const program = async () => {
    for (let doc = 0; doc < 3; doc++) {
      await pauses['a file']();
      await agent.step('work', ({ attempt }) => begun.push(`${doc}, attempt ${attempt}`));
    }
    return begun;
  };
  const { live, dieAt } = newRun();
  assert.ok(await dieAt(5, program));
  assert.deepEqual(await live(program), ['0, attempt 1', '1, attempt 2', '2, attempt 1']);
});

test('a loop of which a turn failed the run is run again from there', async () => {
  const begun: string[] = [];
  let isBroken = true;
  const program = async () => {
    for (let doc = 0; doc < 3; doc++) {
      await pauses['a file']();
      await agent.step('work', ({ attempt }) => {
        begun.push(`${doc}, attempt ${attempt}`);
        if (isBroken && doc === 1) throw new Error('broken');
      });
    }
    return begun;
  };
  const { live } = newRun();
  await assert.rejects(live(program), /broken/);
  isBroken = false;
  assert.deepEqual(await live(program), ['0, attempt 1', '1, attempt 1', '1, attempt 2', '2, attempt 1']);
});

test('agents of one class that do the same are told apart by a variable with what is their own, which the refusal names', async () => {
  class Bot {
    readonly #own: string;
    readonly #names: boolean;
    constructor(id: string, names: boolean) {
      this.#own = id;
      this.#names = names;
    }
    async work(topic: string) {
      const id = this.#own;
      await sleep(3);
      return agent.step('work', this.#names ? () => `${id} ${topic}` : () => `${this.#own} ${topic}`);
    }
  }
  const bots = (names: boolean) => () => Promise.all(['x', 'y'].map((id) => new Bot(id, names).work('ants')));
  for (const names of [true, false]) {
    const { live, dieAt } = newRun();
    assert.ok(await dieAt(5, bots(names)));
    const again = live(bots(names));
    if (names) assert.deepEqual(await again, ['x ants', 'y ants']);
    else await assert.rejects(again, /\{ key: … \}.*Nothing is seen of `this`.*const \{ id \} = this/s);
  }
});
