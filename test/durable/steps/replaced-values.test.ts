/** Steps whose functions capture other values in a resume: which recorded one each is, and that the difference is named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import type { StepEntry } from '../../../src/durable/runs/log-entries.ts';
import { recognise, type UnknownCall } from '../../../src/durable/steps/captured/recognise.ts';
import { newRun } from '../random/killed-runs.ts';

class Page {
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
  text(): string {
    return `text of ${this.url}`;
  }
}

for (const isBeside of [false, true])
  test(`a document that was replaced before the resume is named, ${isBeside ? 'beside another branch' : 'in a loop'}`, async () => {
    const program = (url: string) => async () => {
      const other = isBeside && agent.step('other', () => sleep(60));
      if (other) other.catch(() => {});
      const page = new Page(url);
      const model = 'small';
      await sleep(5);
      const got = await agent.step('summarize', () => `${model} summary of ${page.text()}`);
      await other;
      await agent.step('end', () => null);
      return got;
    };
    for (const now of ['a', 'b']) {
      const { live, dieAt, lines } = newRun();
      assert.ok(await dieAt(isBeside ? 5 : 4, program('a')));
      // Its position and its name identify it.
      assert.equal(await live(program(now)), 'small summary of text of a');
      const named = lines.filter((line) => line.includes('captures'));
      if (now === 'a') assert.deepEqual(named, []);
      else assert.match(named.join(), /^run r: step summarize .*another value of page .*key or an input$/);
    }
  });

test('a call whose client has changed does not take the step of a branch that a recorded end has led to', async () => {
  for (let at = 22, dies = true; dies; at++) {
    const { live, dieAt } = newRun();
    const program = (life: number) => async () => {
      const ask = async (what: string) => {
        await sleep(8);
        return `answer to ${what}`;
      };
      const client = new Page(`life ${life}`);
      let begin = () => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      return Promise.all([
        // What a resume delivers before the end of the search.
        (async () => {
          for (let turn = 0; turn < 10; turn++) {
            await agent.step('note', () => null, { key: `${turn}` });
            await sleep(1);
          }
        })(),
        (async () => {
          await agent.tool('search', { what: 'b' }, () => sleep(40).then(begin));
          return agent.step('ask', () => ask('b'));
        })(),
        // Begins in the same turn, so that it has the same call before it.
        (async () => {
          const what = 'a';
          await (life === 1 ? begun : sleep(0));
          return agent.step('ask', () => client && ask(what));
        })(),
      ]);
    };
    dies = await dieAt(at, program(1));
    assert.deepEqual(
      await live(program(2)),
      [undefined, 'answer to b', 'answer to a'],
      `killed at its record ${at}`,
    );
  }
});

const recorded = (captures: Record<string, string>[]) =>
  captures.map(
    (captured, at) =>
      ({
        seq: at,
        path: `work#${at + 1}`,
        word: 'work',
        captured,
        position: { after: `before ${at}` },
      }) as unknown as StepEntry,
  );

const resultFor = (captures: Record<string, string>[], captured: Record<string, string>, facts = {}) => {
  const entries = recorded(captures);
  const scope = { recorded: { entries, isParallel: true, open: new Set<StepEntry>(), cursor: 0 } };
  const at = { after: 'elsewhere', isSync: false, isRaw: true };
  const call: UnknownCall = {
    scope,
    word: 'work',
    captured,
    at,
    isLed: false,
    isOnMainLine: false,
    shared: new Set(),
    ...facts,
  };
  return recognise(entries.slice(-1), [call]).get(call)?.path;
};

test('a worker of a pool that takes the document of another, with a counter that is not known to be shared', () => {
  const pool = ['a', 'b', 'c'].map((mine, at) => ({ mine, done: String(Math.max(0, at - 1)) }));
  assert.equal(resultFor(pool, { mine: 'c', done: '2' }), 'work#3');
  assert.equal(resultFor(pool, { mine: 'd', done: '1' }), undefined);
  const ofLanguages = pool.map(({ mine }) => ({ mine, language: `of ${mine}` }));
  assert.equal(resultFor(ofLanguages, { mine: 'd', language: 'of c' }), undefined);
  // What is private to an instance may be the document.
  const withInstances = pool.map((captured) => ({ ...captured, page: '~same' }));
  assert.equal(resultFor(withInstances, { mine: 'c', done: '2', page: '~same' }), undefined);
});

test('a turn of one branch, with a counter that is not known to be shared', () => {
  const turns = ['a', 'b', 'c'].map((messages, at) => ({ messages, turn: '1', calls: String(at) }));
  const at = { after: 'before 2', isSync: false, isRaw: true };
  const now = { messages: 'c', turn: '1', calls: '4' };
  assert.equal(resultFor(turns, now, { at, isLed: true }), 'work#3');
  // A branch that only begins behind that call may be another one.
  assert.equal(resultFor(turns, now, { at }), undefined);
  assert.equal(resultFor(turns, { ...now, messages: 'd' }, { at, isLed: true }), undefined);
});
