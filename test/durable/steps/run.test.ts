/** Durable runs through the public API, with deaths at every record that a program makes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import type { DurableRunOptions, DurableRunWork } from '../../../src/durable/options.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { AgentdumpError } from '../../../src/errors.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { crashingStore } from '../random/crashing-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-durable-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
/** Options of a new run, and the lines that it reports. */
function fresh(more: Partial<DurableRunOptions> = {}) {
  const dir = join(folder, `dumps-${count++}`);
  const said: string[] = [];
  const options: DurableRunOptions = {
    id: 'r',
    durable: true,
    dir,
    notify: (line) => said.push(line),
    ...more,
  };
  return { dir, said, options };
}

/** Runs to the end, with a death at record `at` of the first life. */
async function dieAt(
  at: number,
  where: 'before' | 'after',
  options: DurableRunOptions,
  work: (run: DurableRunWork) => unknown,
): Promise<{ died: boolean; result: unknown }> {
  const store = crashingStore(new FileStore(options.dir ?? ''), at, where);
  let died = false;
  try {
    await agent.run('program', { ...options, store }, work);
  } catch (error) {
    assert.equal((error as AgentdumpError).message, 'the process died here');
    died = true;
  }
  return { died, result: await agent.run('program', options, work) };
}

/**
 * The program dies at every record in turn; `judge` is called with the effects and the reported lines of each pair of lives.
 */
async function dieEverywhere(
  program: (effect: (name: string) => void) => (run: DurableRunWork) => unknown,
  expected: unknown,
  judge: (effects: string[], said: string[]) => void,
  more: Partial<DurableRunOptions> = {},
): Promise<void> {
  let isThrough = false;
  for (let at = 1; !isThrough; at++) {
    for (const where of ['before', 'after'] as const) {
      const { options, said } = fresh(more);
      const effects: string[] = [];
      const { died, result } = await dieAt(
        at,
        where,
        options,
        program((name) => effects.push(name)),
      );
      assert.deepEqual(result, expected, `death ${where} record ${at}`);
      judge(effects, said);
      isThrough = !died;
    }
    assert.ok(at < 200);
  }
}

const once = (effects: string[], said: string[]) => {
  const times = new Map<string, number>();
  for (const effect of effects) times.set(effect, (times.get(effect) ?? 0) + 1);
  for (const [effect, many] of times) {
    if (many === 1) continue;
    assert.equal(many, 2, effect);
    assert.ok(
      said.some((line) => line.includes('is in doubt')),
      `${effect} ran twice and was not named`,
    );
  }
};

test('steps in a loop, a tool, an error that is a result', async () => {
  await dieEverywhere(
    (effect) => async () => {
      const seen: unknown[] = [];
      for (let index = 0; index < 3; index++)
        seen.push(
          await agent.step('look', async () => {
            effect(`look ${index}`);
            return index;
          }),
        );
      seen.push(await agent.tool('add', { a: 1, b: 2 }, ({ a, b }) => a + b));
      const error = await Promise.resolve(
        agent.step('fail', async () => {
          effect('fail');
          throw new RangeError('too far');
        }),
      ).catch((caught) => caught);
      return [...seen, error.name, error.message, error instanceof RangeError];
    },
    [0, 1, 2, 3, 'RangeError', 'too far', true],
    once,
  );
});

test('parallel steps, whatever order they end in', { skip: onlyWide }, async () => {
  await dieEverywhere(
    (effect) => () =>
      Promise.all(
        ['oslo', 'rome', 'bern'].map(async (city, index) => {
          const weather = await agent.tool('weather', { city }, async () => {
            effect(city);
            await new Promise((resolve) => setTimeout(resolve, (3 - index) * 2));
            return `${city}: fine`;
          });
          return agent.tool('translate', { weather }, async () => `${weather}!`);
        }),
      ),
    ['oslo: fine!', 'rome: fine!', 'bern: fine!'],
    once,
  );
});

test('nested runs and steps within steps', async () => {
  await dieEverywhere(
    (effect) => async () => {
      const plan = await agent.run('planner', { config: { depth: 1 } }, async () => {
        const first = await agent.step('draft', () => {
          effect('draft');
          return 'a';
        });
        const inner = await agent.step('review', async () => {
          const opinion = await agent.step('ask', () => {
            effect('ask');
            return 'good';
          });
          return `${first} is ${opinion}`;
        });
        return inner;
      });
      return `${plan}, ${await agent.step('draft', () => 'b')}`;
    },
    'a is good, b',
    once,
  );
});

test('a finished run gives its result and runs nothing', async () => {
  const { options } = fresh();
  const at = new Date(5);
  const first = await agent.run('program', options, () => ({ at, rows: new Map([['a', 1n]]) }));
  const second = await agent.run('program', options, () => assert.fail('ran again'));
  assert.deepEqual(second, first);
  await assert.rejects(
    agent.run('other', options, () => 1),
    /run r is one of program, not of other/,
  );
});

test('a run that failed is taken up at the step that failed it; what it had dealt with stays', async () => {
  const { options } = fresh();
  const calls = { caught: 0, fatal: 0 };
  const program = (isFixed: boolean) => async () => {
    await Promise.resolve(
      agent.step('caught', async () => {
        calls.caught++;
        throw new Error('dealt with');
      }),
    ).catch(() => {});
    return agent.step('fatal', async () => {
      calls.fatal++;
      if (!isFixed) throw new Error('bug');
      return 'fixed';
    });
  };
  await assert.rejects(agent.run('program', options, program(false)), /bug/);
  await assert.rejects(agent.run('program', options, program(false)), /bug/);
  assert.equal(await agent.run('program', options, program(true)), 'fixed');
  assert.deepEqual(calls, { caught: 1, fatal: 3 });
});

test('retries with a limit that holds over deaths', { skip: onlyWide }, async () => {
  await dieEverywhere(
    (effect) => () =>
      Promise.resolve(
        agent.step(
          'flaky',
          async ({ attempt }) => {
            effect('try');
            throw new Error(`try ${attempt}`);
          },
          { retry: { attempts: 3, delayMs: 1 } },
        ),
      ).catch(() => 'gave up'),
    'gave up',
    (effects, said) => {
      const doubts = said.filter((line) => line.includes('is in doubt')).length;
      assert.ok(
        effects.length >= 3 && effects.length <= 3 + doubts,
        `${effects.length} tries, ${doubts} in doubt`,
      );
    },
  );
});

test('a retry policy says which failures are worth it', async () => {
  const { options } = fresh();
  let tries = 0;
  const result = agent.run('program', options, () =>
    agent.step(
      's',
      async () => {
        tries++;
        throw Object.assign(new Error('no'), { code: 'EPERM' });
      },
      { retry: { attempts: 5, delayMs: 1, when: (error) => (error as { code: string }).code !== 'EPERM' } },
    ),
  );
  await assert.rejects(result, { code: 'EPERM' });
  assert.equal(tries, 1);
});

test('a timeout is an error of the step, and its signal says so', async () => {
  const { options } = fresh();
  let reason: unknown;
  const program = () =>
    agent.step(
      'slow',
      ({ signal }) =>
        new Promise<void>(() =>
          signal.addEventListener('abort', () => {
            reason = signal.reason;
          }),
        ),
      { timeoutMs: 5 },
    );
  await assert.rejects(agent.run('program', options, program), { name: 'TimeoutError' });
  assert.equal((reason as Error).name, 'TimeoutError');
});

test('the time of a try ends with it: the pause before the next may be longer, and the next has a signal of its own', async () => {
  const { options } = fresh();
  const signals: AbortSignal[] = [];
  const program = () =>
    agent.step(
      'slow at first',
      ({ signal }) => {
        signals.push(signal);
        return signals.length === 1 ? new Promise<never>(() => {}) : 'done';
      },
      { timeoutMs: 10, retry: { attempts: 2, delayMs: 60 } },
    );
  assert.equal(await agent.run('program', options, program), 'done');
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
});

test('a run that is called off can be taken up; the step at work then is in doubt', async () => {
  const { options, said } = fresh();
  const controller = new AbortController();
  const work = (wait: boolean) => async () => {
    const a = await agent.step('a', () => 1);
    const b = await agent.step('b', () => (wait ? untilCalledOff() : Promise.resolve(2)));
    return a + b;
  };
  const untilCalledOff = () => {
    setTimeout(() => controller.abort(), 10);
    return new Promise<number>(() => {});
  };
  await assert.rejects(agent.run('program', { ...options, signal: controller.signal }, work(true)), {
    name: 'AbortError',
  });
  assert.equal(await agent.run('program', options, work(false)), 3);
  assert.ok(
    said.some((line) => line.includes('step b is in doubt: it was called off')),
    said.join('\n'),
  );
});

test('in doubt: skip, check, and the effect key of every try', async () => {
  const keys = new Set<string>();
  const outside = new Set<string>();
  for (const happened of [false, true]) {
    const { options, said } = fresh();
    const program = async () =>
      agent.step(
        'book',
        async ({ effect }) => {
          keys.add(effect.key);
          return 'booked now';
        },
        { inDoubt: async ({ key }) => (outside.has(key) ? { result: 'booked before' } : undefined) },
      );
    if (happened) for (const key of keys) outside.add(key);
    const { result } = await dieAt(4, 'before', options, program);
    assert.equal(result, happened ? 'booked before' : 'booked now');
    assert.match(
      said.join('\n'),
      /step book is in doubt: .*the world outside is asked \(effect key [0-9a-f]{32}\)/,
    );
  }
  assert.equal(keys.size, 1);
  const { options } = fresh();
  const { result } = await dieAt(4, 'before', options, async () => [
    await agent.step('mail', () => 'sent', { inDoubt: 'skip' }),
  ]);
  assert.deepEqual(result, [undefined]);
});

test('in doubt: a person is asked, and may know the result, want it again, or give it up', async () => {
  for (const [answer, expected] of [
    [{ approved: true }, 'booked now'],
    [{ approved: true, value: 'booked by phone' }, 'booked by phone'],
    [{ approved: false }, /step book was in doubt and rejected/],
  ] as const) {
    const { options, dir } = fresh();
    const program = async () => agent.step('book', () => 'booked now', { inDoubt: 'ask' });
    const done = dieAt(4, 'before', options, program);
    const store = new FileStore(dir);
    const answering = (async () => {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        const { waitingFor } = await summarizeRun(store, 'r').catch(() => ({ waitingFor: [] }));
        if (waitingFor[0]) return answerApproval(store, 'r', waitingFor[0].path, answer);
      }
    })();
    if (typeof expected === 'string') assert.equal((await done).result, expected);
    else await assert.rejects(done, expected);
    assert.equal(await answering, 'book?');
  }
});

test('a key names a step whatever its order; used twice it is an error', async () => {
  const { options } = fresh();
  const program = (order: string[]) => async () => {
    for (const key of order) await agent.step('row', () => key, { key });
    throw new Error('stop');
  };
  await assert.rejects(agent.run('program', { ...options, shape: 'loose' }, program(['a', 'b'])), /stop/);
  await assert.rejects(agent.run('program', { ...options, shape: 'loose' }, program(['b', 'a'])), /stop/);
  await assert.rejects(
    agent.run('program', { ...options, shape: 'loose' }, program(['a', 'a'])),
    /used twice/,
  );
});

test('another program than the one that recorded: the difference, and nothing is harmed', async () => {
  const { options } = fresh();
  const program = (names: string[]) => async () => {
    for (const name of names) await agent.step(name, () => name);
    throw new Error('stop');
  };
  await assert.rejects(agent.run('program', options, program(['a', 'b', 'c'])), /stop/);
  await assert.rejects(
    agent.run('program', options, program(['a', 'x', 'b', 'c'])),
    (error: AgentdumpError) => {
      assert.equal(error.code, 'changed');
      assert.match(error.message, / {4}1 {2}step a\n {2}- 2 {2}step b, finished\n {2}\+ 2 {2}step x/);
      return true;
    },
  );
  await assert.rejects(agent.run('program', options, program(['a', 'c'])), { code: 'changed' });
  await assert.rejects(
    agent.run('program', options, async () => agent.step('a', () => 'a')),
    /- 2 {2}step b, finished\n {2}\+ 2 {2}the end/,
  );
  // A program that catches the error can't continue either.
  await assert.rejects(
    agent.run('program', options, async () => {
      await Promise.resolve(agent.step('x', () => 1)).catch(() => {});
      return agent.step('y', () => 2);
    }),
    { code: 'changed' },
  );
  await assert.rejects(agent.run('program', options, program(['a', 'b', 'c', 'd'])), /stop/);
});

test('version: old runs go the old way, new ones the new, and each stays on it', async () => {
  const old = fresh();
  await assert.rejects(
    agent.run('program', old.options, async () => {
      await agent.step('a', () => 1);
      await agent.step('b', () => 2);
      throw new Error('stop');
    }),
    /stop/,
  );
  const taken: boolean[] = [];
  const program = async () => {
    await agent.step('a', () => 1);
    const isNew = await agent.version('with c');
    taken.push(isNew);
    if (isNew) await agent.step('c', () => 3);
    await agent.step('b', () => 2);
    if (taken.length < 3) throw new Error('stop');
    return taken;
  };
  await assert.rejects(agent.run('program', old.options, program), /stop/);
  await assert.rejects(agent.run('program', fresh().options, program), /stop/);
  assert.deepEqual(await agent.run('program', old.options, program), [false, true, false]);
});

test('two at once: one has the run, the other is told', async () => {
  const { options } = fresh();
  let finish = () => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let first: unknown;
  await new Promise<void>((begun) => {
    const work = () => {
      begun();
      return gate;
    };
    first = agent.run('program', options, () => agent.step('s', work));
  });
  await assert.rejects(
    agent.run('program', options, () => 1),
    (error: AgentdumpError) => error.code === 'held',
  );
  finish();
  await first;
});

test("what can't be stored is an error at the step that returned it", async () => {
  const { options, said } = fresh();
  const program = (value: unknown) => async () => agent.step('s', () => value);
  await assert.rejects(
    agent.run('program', options, program({ rows: [{ close: () => 1 }] })),
    /step s returned a value that can't be stored at rows\[0\]\.close: /,
  );
  class Connection {}
  await assert.rejects(agent.run('program', options, program(new Connection())), /can't be stored/);
  assert.ok(
    said.some((line) => line.includes('step s is in doubt: it had returned, but')),
    said.join('\n'),
  );
});

test('a value larger than a record may be is an error of its step, and the run goes on', async () => {
  const { options } = fresh();
  const result = await agent.run('program', { ...options, plain: true }, async () => {
    const error = await Promise.resolve(agent.step('big', () => 'x'.repeat(70_000_000))).catch(
      (caught) => caught,
    );
    return [error.code, await agent.step('next', () => 1)];
  });
  assert.deepEqual(result, ['over-limit', 1]);
});

test('costs: what steps say, and what replies of models bear, is told at a resume', async () => {
  const { options, said } = fresh();
  await dieAt(7, 'before', options, async () => {
    await agent.step('ask', async () => ({ text: 'hi', usage: { input_tokens: 1000, output_tokens: 200 } }));
    await agent.step('think', async ({ spent }) => spent({ inputTokens: 50, usd: 0.02 }));
  });
  assert.match(
    said.join('\n'),
    /1 step \([^)]*1,200 tokens\) kept; lost: 1 step \([^)]*50 tokens, \$0\.02\)/,
  );
});

test('no progress in many lives: it is given up, but not for one who asks by name', async () => {
  const { options } = fresh({ maxResumes: 2 });
  const program = async () => agent.step('s', () => 1);
  for (let life = 0; life < 3; life++)
    await assert.rejects(
      agent.run(
        'program',
        { ...options, store: crashingStore(new FileStore(options.dir ?? ''), life === 0 ? 4 : 3, 'before') },
        program,
      ),
      /died here/,
    );
  await assert.rejects(agent.run('program', options, program), { code: 'over-limit' });
  process.env['AGENTDUMP_RESUME'] = 'r';
  try {
    assert.equal(await agent.run('program', options, program), 1);
  } finally {
    delete process.env['AGENTDUMP_RESUME'];
  }
});

test('outside of durable runs', async () => {
  assert.equal(
    agent.step('plain', ({ attempt, inDoubt }) => [attempt, inDoubt].join()),
    '1,false',
  );
  assert.equal(await agent.version('any'), true);
  await assert.rejects(agent.waitForApproval('x'), { code: 'usage' });
  await assert.rejects(agent.checkpoint(), { code: 'usage' });
});
