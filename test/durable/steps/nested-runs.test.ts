/**
 * A run within a durable run is a part of it: what only a run of its own has is refused, before anything is done, and what it has done is
 * kept if it fails.
 */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import type { DurableRunOptions } from '../../../src/durable/options.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';

const newStore = () => new FileStore(mkdtempSync(join(tmpdir(), 'agentdump-nested-')));

async function runWithin(options: DurableRunOptions) {
  const done: string[] = [];
  const store = newStore();
  const outcome = agent.run('outer', { id: 'o', durable: true, store, notify: () => {} }, async () => {
    await agent.step('first', () => done.push('first'));
    return agent.run('inner', options, () => agent.step('inner step', () => done.push('inner')));
  });
  return {
    done,
    error: await outcome.then(
      () => undefined,
      (error: Error) => error,
    ),
    store,
  };
}

test('an id, an input or a store of its own is an error that names the way to a run of its own', async () => {
  const store = newStore();
  for (const [options, message] of [
    [
      { durable: true, id: 'mine' },
      /^run inner within run o is a part of it and takes no id; agent\.childRun\('inner'\)/,
    ],
    [{ durable: true, id: 'mine', input: 5 }, /takes no id, no input;/],
    [{ durable: true, store }, /takes no store;/],
  ] as const) {
    const { done, error } = await runWithin(options);
    assert.match(error?.message ?? '', message);
    assert.equal((error as Error & { code?: string }).code, 'usage');
    assert.deepEqual(done, ['first']);
  }
  assert.deepEqual(store.list(), []);
});

test('without them it is a part, with its configuration', async () => {
  const { done, error, store } = await runWithin({ durable: true, config: { model: 'm' } });
  assert.equal(error, undefined);
  assert.deepEqual(done, ['first', 'inner']);
  assert.deepEqual(store.list(), ['o']);
});

const kinds = {
  'a run': (work: () => Promise<unknown>) => agent.run('inner', {}, work),
  'a step': (work: () => Promise<unknown>) => agent.step('inner', work),
};
for (const [kind, perform] of Object.entries(kinds))
  test(`${kind} that failed the run is run again at a resume, and not what is recorded within it`, async () => {
    const done: string[] = [];
    const store = newStore();
    let isBroken = true;
    const live = () =>
      agent.run('outer', { id: 'o', durable: true, store, notify: () => {} }, async () => {
        await perform(async () => {
          await agent.step('paid', () => done.push('paid'));
          if (isBroken) throw new Error('broken');
        });
        return agent.step('after', () => done.push('after'));
      });
    await assert.rejects(live(), /broken/);
    isBroken = false;
    await live();
    assert.deepEqual(done, ['paid', 'after']);
  });
