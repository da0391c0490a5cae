/** The store in PostgreSQL: the conformance tests, and the faults of a database and its network. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { PostgresStore } from '../../../src/durable/stores/postgres-store.ts';
import type { RunHandle } from '../../../src/durable/stores/store.ts';
import { recordKinds } from '../../../src/journal/layout/records.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { testStore } from './store-conformance.ts';

const skip = whyNoPostgres();
let server: PostgresServer;
before(async () => {
  if (!skip) server = await startPostgres();
});
after(() => server?.remove());

async function tell(text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new Client(server.url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

const kind = recordKinds.durableStep;
const texts = (records: readonly { payload: Uint8Array }[]) =>
  records.map(({ payload }) => Buffer.from(payload).toString());

testStore({
  name: 'PostgreSQL',
  skip,
  open: async () => {
    const store = await PostgresStore.connect(server.url);
    await tell('truncate agentdump_runs, agentdump_records, agentdump_answers');
    return store;
  },
  expire: async (_store, runId) => {
    await tell("update agentdump_runs set lease_until = now() - interval '1 second' where run_id = $1", [
      runId,
    ]);
  },
});

/** Adds records one after another while `trouble` happens; afterwards every acknowledged one must be there exactly once. */
async function addThrough(runId: string, trouble: () => Promise<void>): Promise<void> {
  const store = await PostgresStore.connect(server.url);
  try {
    const run: RunHandle = await store.open(runId);
    const acknowledged: string[] = [];
    let isOver = false;
    const adding = (async () => {
      for (let index = 0; !isOver; index++) {
        await run.append(kind, `${index}`, false);
        acknowledged.push(`${index}`);
      }
    })();
    await sleep(100);
    await trouble();
    const atLeast = acknowledged.length;
    while (acknowledged.length === atLeast) await Promise.race([adding, sleep(20)]);
    isOver = true;
    await adding;
    assert.deepEqual(texts((await store.read(runId)).records), acknowledged);
    await run.release();
  } finally {
    await store.close();
  }
}

test('the database is killed and comes back', { skip: skip ?? false }, () =>
  addThrough('killed', async () => {
    await server.kill();
    await sleep(300);
    await server.start();
  }),
);

test('connections are cut, again and again', { skip: skip ?? false }, () =>
  addThrough('cut', async () => {
    for (let time = 0; time < 10; time++) {
      await tell(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
      );
      await sleep(20);
    }
  }),
);

test('the disk is full for a while', { skip: skip ?? false }, () =>
  addThrough('full', async () => {
    await tell(`create function full_disk() returns trigger language plpgsql as
      $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`);
    await tell('create trigger full_disk before insert on agentdump_records execute function full_disk()');
    await sleep(300);
    await tell('drop trigger full_disk on agentdump_records');
  }),
);

test('a disk that stays full ends the run here; what was acknowledged stays', {
  skip: skip ?? false,
}, async () => {
  const store = await PostgresStore.connect(server.url, { patienceMs: 200 });
  const options = { id: 'stays-full', durable: true, store, notify: () => {} } as const;
  const effects: string[] = [];
  const program = (fill: () => Promise<unknown>) => async () => {
    await agent.step('a', async () => effects.push('a'));
    await agent.step('b', async () => {
      effects.push('b');
      await fill();
    });
    return 'done';
  };
  await assert.rejects(
    agent.run(
      'p',
      options,
      program(() =>
        tell('create trigger full_disk before insert on agentdump_records execute function full_disk()'),
      ),
    ),
    { code: 'unwritable' },
  );
  await tell('drop trigger full_disk on agentdump_records');
  assert.equal(
    await agent.run(
      'p',
      options,
      program(async () => {}),
    ),
    'done',
  );
  assert.deepEqual(effects, ['a', 'b', 'b']);
  await store.close();
});

test('a lease is renewed while the worker lives, longer than it lasts', { skip: skip ?? false }, async () => {
  const store = await PostgresStore.connect(server.url, { leaseMs: 1500 });
  const run: RunHandle = await store.open('renewed');
  await sleep(4000);
  await assert.rejects(store.open('renewed'), { code: 'held' });
  await run.append(kind, 'still mine', false);
  await run.release();
  await store.close();
});

test('no such server: said after the patience, with no password in the words', {
  skip: skip ?? false,
}, async () => {
  const url = 'postgresql://me:hunter2-and-more@127.0.0.1:1/none';
  await assert.rejects(PostgresStore.connect(url, { patienceMs: 100 }), (error: Error) => {
    assert.equal((error as { code?: string }).code, 'unwritable');
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });
});

test('records of many runs go in one statement, and what one of them is refused is no matter of the others', {
  skip,
}, async () => {
  const store = await PostgresStore.connect(server.url);
  const statements: unknown[][] = [];
  const { query } = store.pool;
  store.pool.query = (asked, values) => {
    if (typeof asked !== 'string' && asked.text.includes('insert into agentdump_records'))
      statements.push(asked.values);
    return query.call(store.pool, asked, values);
  };
  try {
    const stale = await store.open('taken');
    await tell("update agentdump_runs set lease_until = now() - interval '1 second' where run_id = 'taken'");
    // This process now holds the run twice; the first holder has been replaced.
    const fresh = await store.open('taken');
    const healthy = await store.open('healthy');
    const refused = await store.open('refused');
    const ends = await Promise.allSettled([
      stale.append(kind, 'stale', false),
      fresh.append(kind, 'fresh'),
      fresh.append(kind, 'fresh too'),
      healthy.append(kind, 'healthy'),
    ]);
    assert.equal(statements.length, 1);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    );
    assert.equal((ends[0] as PromiseRejectedResult).reason.code, 'held');
    assert.deepEqual(texts((await store.read('taken')).records), ['fresh', 'fresh too']);

    const further = await Promise.allSettled([
      healthy.append(kind, 'healthy too'),
      // Out of range for the server's integer.
      refused.append(2 ** 40, 'refused'),
      fresh.append(kind, 'fresh at last'),
    ]);
    assert.deepEqual(
      further.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    await assert.rejects(Promise.resolve(refused.append(kind, 'after it')), { code: 'unwritable' });
    assert.deepEqual(texts((await store.read('healthy')).records), ['healthy', 'healthy too']);
    for (const run of [stale, fresh, healthy, refused]) await run.release();
  } finally {
    await store.close();
  }
});
