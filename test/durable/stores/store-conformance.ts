/** What every store must do. `expire` makes the run's holder look as if it had been silent for longer than its lease. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { recordKinds } from '../../../src/journal/layout/records.ts';

export interface StoreUnderTest {
  name: string;
  skip?: string | undefined;
  open(): Promise<DurableStore>;
  expire(store: DurableStore, runId: string): Promise<void>;
}

const kind = recordKinds.durableStep;
const texts = (records: readonly { payload: Uint8Array }[]) =>
  records.map(({ payload }) => Buffer.from(payload).toString());
const isHeld = { code: 'held' };

export function testStore(subject: StoreUnderTest): void {
  const check = (what: string, body: (store: DurableStore) => Promise<void>) =>
    test(`${subject.name}: ${what}`, { skip: subject.skip ?? false }, async () => {
      const store = await subject.open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });

  check('records come back whole, in their order, to the one who opens next', async (store) => {
    const before = Date.now();
    const first = await store.open('r');
    assert.deepEqual(first.records, []);
    const big = Buffer.alloc(1_000_000, 'ab\0\n');
    const seqs = [
      await first.append(kind, 'text: ø', false),
      await first.append(recordKinds.durableRun, Buffer.from([0, 255, 10]), true),
      await first.append(kind, big, false),
      await first.append(kind, '', false),
    ];
    assert.ok(seqs.every((seq, index) => index === 0 || seq > seqs[index - 1]!));
    await first.release();
    const second = await store.open('r');
    assert.deepEqual(
      second.records.map(({ seq }) => seq),
      seqs,
    );
    assert.deepEqual(
      second.records.map(({ kind: found }) => found),
      [kind, recordKinds.durableRun, kind, kind],
    );
    assert.equal(texts(second.records)[0], 'text: ø');
    assert.ok(Buffer.from(second.records[2]!.payload).equals(big));
    assert.ok(second.records.every(({ atMs }) => atMs >= before && atMs <= Date.now() + 1000));
    assert.ok((await second.append(kind, 'more', false)) > seqs.at(-1)!);
    assert.ok(second.epoch > first.epoch);
    await second.release();
  });

  check('many records without waiting for each', async (store) => {
    const run = await store.open('many');
    const seqs = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => run.append(kind, `${index}`, false)),
    );
    await run.release();
    const { records } = await store.read('many');
    assert.deepEqual(
      records.map(({ seq }) => seq),
      seqs,
    );
    assert.deepEqual(
      texts(records),
      seqs.map((_, index) => `${index}`),
    );
  });

  check('one holder at a time, who may let go', async (store) => {
    const run = await store.open('held');
    await assert.rejects(async () => store.open('held'), isHeld);
    assert.match((await store.read('held')).holder ?? '', new RegExp(`process ${process.pid}`));
    await run.release();
    assert.equal((await store.read('held')).holder, undefined);
    await (await store.open('held')).release();
  });

  check('of many who ask at once exactly one has it', async (store) => {
    const asked = await Promise.allSettled(Array.from({ length: 12 }, async () => store.open('wanted')));
    const won = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    assert.equal(won.length, 1);
    for (const one of asked) if (one.status === 'rejected') assert.equal(one.reason.code, 'held');
    await won[0]!.release();
  });

  check('who was silent too long is taken over, and can add nothing that anybody sees', async (store) => {
    const sleeper = await store.open('over');
    await sleeper.append(kind, 'before', false);
    await subject.expire(store, 'over');
    const heir = await store.open('over');
    assert.deepEqual(texts(heir.records), ['before']);
    assert.ok(heir.epoch > sleeper.epoch);
    const late = await Promise.allSettled([(async () => sleeper.append(kind, 'too late', false))()]);
    await heir.append(kind, 'after', false);
    await sleeper.release();
    await assert.rejects(
      async () => store.open('over'),
      isHeld,
      'a release by the former holder lets nobody in',
    );
    await heir.release();
    assert.deepEqual(texts((await store.read('over')).records), ['before', 'after']);
    if (late[0]?.status === 'rejected') assert.equal(late[0].reason.code, 'held');
  });

  check('an answer is kept once', async (store) => {
    await (await store.open('asks')).release();
    const path = 'plan/book#2';
    assert.equal(await store.findAnswer('asks', path), undefined);
    assert.equal(await store.answer('asks', path, Buffer.from('yes')), true);
    assert.equal(await store.answer('asks', path, Buffer.from('no')), false);
    assert.equal(Buffer.from((await store.findAnswer('asks', path))!).toString(), 'yes');
    assert.equal(await store.findAnswer('asks', 'plan/book'), undefined);
    assert.equal(await store.answer('asks', `long/${'x'.repeat(600)}`, Buffer.from('yes')), true);
  });

  check('names of runs are any words; what is not there is not found', async (store) => {
    const names = ['a/b', '..', '.hidden', 'ünï 1*', 'CON'];
    for (const name of names) await (await store.open(name)).release();
    const listed = await store.list();
    for (const name of names) assert.ok(listed.includes(name), name);
    await assert.rejects(async () => store.read('nobody'), { code: 'not-found' });
  });
}
