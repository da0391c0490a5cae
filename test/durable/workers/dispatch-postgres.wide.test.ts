/**
 * Dispatch in PostgreSQL: claims, notifications, pauses, rows of older releases, and how soon an interrupted run is found.
 */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, enqueueRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { registerPrograms } from '../../../src/durable/dispatch/known-programs.ts';
import type { WorkerOptions } from '../../../src/durable/dispatch/worker-options.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { prunePostgresRuns } from '../../../src/durable/stores/postgres/retention.ts';
import { PostgresStore } from '../../../src/durable/stores/postgres-store.ts';
import { startWorker } from '../../../src/durable/worker.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { until } from '../until.ts';

const skip = whyNoPostgres() ?? false;
let server: PostgresServer;
before(async () => {
  if (!skip) server = await startPostgres();
});
after(() => server?.remove());

async function tell(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client(server.url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function fresh(t: TestContext): Promise<PostgresStore> {
  const store = await PostgresStore.connect(server.url);
  t.after(() => store.close());
  await tell('truncate agentdump_runs, agentdump_records, agentdump_answers');
  return store;
}

/** A worker that records how its runs end. It must be stopped before its store is closed. */
function work(options: Omit<WorkerOptions, 'options'>) {
  const ended = new Map<string, unknown>();
  const worker = startWorker({
    options: { notify: () => {} },
    onEnd: (id, error) => ended.set(id, error ?? 'well'),
    ...options,
  });
  return { worker, ended };
}

/** Calls `tell` with each statement before it is sent. */
function listen(store: PostgresStore, tell: (text: string, values: unknown[]) => void): void {
  const query = store.pool.query.bind(store.pool);
  store.pool.query = (asked, given) => {
    const { text, values } = typeof asked === 'string' ? { text: asked, values: given ?? [] } : asked;
    tell(text, values);
    return query(asked, given);
  };
}

test('many workers perform each queued run once', { skip }, async (t) => {
  const store = await fresh(t);
  const done: string[] = [];
  const programs = { job: ({ id }: { id: string }) => agent.step('work', () => done.push(id)) };
  const workers = [1, 2, 3].map(() => work({ store, programs }));
  const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
  await Promise.all(ids.map((id) => enqueueRun(store, 'job', { id })));
  await until(() => workers.reduce((sum, { ended }) => sum + ended.size, 0) === ids.length);
  for (const { worker } of workers) await worker.stop();
  assert.deepEqual(done.toSorted(), ids.toSorted());
  assert.deepEqual(await tell('select run_id from agentdump_runs where not is_over'), []);
});

test('answers and signals wake runs that were put to rest; a cancelled one ends', { skip }, async (t) => {
  const store = await fresh(t);
  const programs = {
    waits: async () => {
      const { approved } = await agent.waitForApproval('go', { sum: 5 });
      const news = await agent.waitForSignal('news');
      await agent.sleep('a while', 2_500);
      return agent.step('end', () => [approved, news?.value]);
    },
  };
  const isResting = async (id: string) => {
    const [row] = await tell('select holder, due_at::text as due from agentdump_runs where run_id = $1', [
      id,
    ]);
    return row?.['holder'] === null && row?.['due'] === 'infinity';
  };
  const { worker, ended } = work({ store, programs });
  await enqueueRun(store, 'waits', { id: 'a' });
  await enqueueRun(store, 'waits', { id: 'b' });
  await until(async () => (await isResting('a')) && (await isResting('b')));
  await cancelRun(store, 'b');
  await answerApproval(store, 'a', 'go', { approved: false });
  await until(async () =>
    (await summarizeRun(store, 'a')).waitingFor.some(({ signal }) => signal === 'news'),
  );
  await until(() => isResting('a'));
  await sendSignal(store, 'a', 'news', { value: 7 });
  await until(() => ended.has('a'));
  await worker.stop();
  assert.deepEqual(await agent.run('waits', { id: 'a', durable: true, store }, () => 0), [false, 7]);
  assert.equal((await summarizeRun(store, 'b')).state, 'cancelled');
});

test('an answer at any moment of a pause is not lost', { skip }, async (t) => {
  const store = await fresh(t);
  const programs = { asks: async () => (await agent.waitForApproval('go')).approved };
  const workers = [1, 2].map(() => work({ store, programs, everyMs: 30 }));
  for (let index = 0; index < 20; index++) {
    const id = `a${index}`;
    await enqueueRun(store, 'asks', { id });
    await until(async () => (await summarizeRun(store, id)).waitingFor.length > 0);
    await sleep(index * 5);
    await answerApproval(store, id, 'go', { approved: true });
  }
  await until(() => workers.reduce((sum, { ended }) => sum + ended.size, 0) === 20);
  for (const { worker } of workers) await worker.stop();
});

test('an answer between the last look and the end of a pause makes the run due', { skip }, async (t) => {
  const store = await fresh(t);
  for (const isAnswered of [false, true]) {
    const id = `r${isAnswered}`;
    await enqueueRun(store, 'job', { id });
    const handle = await store.open(id, { name: 'job', isWork: true });
    const mark = await handle.mark();
    if (isAnswered) await store.answer(id, 'x', Buffer.from('y'));
    await handle.release({ isOver: false, dueAtMs: 'never', mark });
  }
  assert.deepEqual(await store.findDue(['job'], 9), [{ id: 'rtrue', name: 'job' }]);
});

test('times beyond what PostgreSQL spells, ids beyond its news, holders that nobody can read', {
  skip,
}, async (t) => {
  const store = await fresh(t);
  await enqueueRun(store, 'job', { id: 'late', startAt: new Date(8.64e15) });
  for (const dueAtMs of [Number.POSITIVE_INFINITY, 1e18, 8.64e15])
    await store.rest('late', { isOver: false, dueAtMs });
  assert.deepEqual(await store.findDue(['job'], 9), []);
  await enqueueRun(store, 'job', { id: 'odd' });
  await tell(
    "update agentdump_runs set holder = 'a stranger', lease_until = now() + interval '1 hour' where run_id = 'odd'",
  );
  await enqueueRun(store, 'job', { id: 'well' });
  assert.deepEqual(await store.findDue(['job'], 9), [{ id: 'well', name: 'job' }]);
  assert.match((await store.read('odd')).holder ?? '', /somebody/);
  // The notification of so long an id doesn't contain it, so that every waiting process looks.
  const id = 'x'.repeat(2_000);
  await enqueueRun(store, 'job', { id });
  const told: (string | undefined)[] = [];
  const unwatch = store.watch((run) => told.push(run));
  let slot = 0;
  await until(async () => {
    await store.answer(id, `x${slot++}`, Buffer.from('y'));
    return told.includes(undefined);
  });
  unwatch();
});

test('the end of a step and the start of the next one are one transaction', { skip }, async (t) => {
  const store = await fresh(t);
  let inserts = 0;
  listen(store, (text) => {
    if (text.includes('insert into agentdump_records')) inserts++;
  });
  const steps = (fsync: 'none' | 'step') =>
    agent.run('job', { id: fsync, durable: true, store, fsync }, async () => {
      for (let index = 0; index < 20; index++) await agent.step('work', async () => index);
    });
  await steps('none');
  assert.ok(inserts <= 24, `${inserts} for 20 steps`);
  inserts = 0;
  // With fsync: 'step', each record is awaited.
  await steps('step');
  assert.ok(inserts >= 40, `${inserts} for 20 steps`);
  const { records } = await store.read('none');
  assert.deepEqual(
    records.map(({ seq }) => seq),
    records.map((_, index) => index),
  );
});

test('runs that are queued together are queued, taken, recorded and let go of together', {
  skip,
}, async (t) => {
  const store = await fresh(t);
  const statements: string[] = [];
  const ids = Array.from({ length: 8 }, (_, index) => `r${index}`);
  listen(store, (text) => statements.push(/\b(?:with|select|insert|update)\b.*/.exec(text)?.[0] ?? text));
  const queued = await Promise.all(ids.map((id) => enqueueRun(store, 'job', { id, input: id })));
  assert.ok(queued.every(({ isNew }) => isNew));
  assert.equal(statements.length, 1);
  const program = async ({ input }: { input: unknown }) => {
    for (const name of ['one', 'two', 'three']) await agent.step(name, async () => `${name} of ${input}`);
    return input;
  };
  const { worker, ended } = work({ store, programs: { job: program }, most: 8 });
  await until(() => ended.size === ids.length);
  await worker.stop();
  // A run by itself takes four writes: its start, two that combine a step's end with the next start, and the last end with
  // the end of the run.
  const writes = statements.filter((text) => text.startsWith('with held'));
  assert.ok(writes.length <= 20, statements.join('\n'));
  for (const id of ids) {
    const { state, attempts, steps } = await summarizeRun(store, id);
    assert.deepEqual([state, attempts, steps.finished], ['finished', 1, 3]);
  }
  assert.deepEqual(
    await tell('select count(*)::integer as many from agentdump_runs where holder is null and is_over'),
    [{ many: 8 }],
  );
  const again = await Promise.all([...ids, 'new', 'new'].map((id) => enqueueRun(store, 'job', { id })));
  assert.deepEqual(
    again.map(({ isNew }) => isNew),
    [...ids.map(() => false), true, false],
  );
});

test('a run that kills its worker before its first step is given up', { skip }, async (t) => {
  const store = await fresh(t);
  const opening = {
    kind: 64,
    payload: '{"event":"open","attempt":1,"pid":1,"host":"","node":"","agentdump":"","cwd":""}',
  };
  await enqueueRun(store, 'job', { id: 'deadly' });
  const wish = { names: ['job'], most: 4, except: [], opening };
  // Taken, and then silent, as if the worker had died of it at once.
  const [taken] = await store.takeDue(wish);
  assert.deepEqual(await store.takeDue(wish), []);
  assert.equal(taken?.handle?.records.length, 1);
  assert.equal(taken?.handle?.isOpened, true);
  await taken?.handle?.release();
  assert.equal((await summarizeRun(store, 'deadly')).attempts, 1);
  const [again] = await store.takeDue(wish);
  assert.deepEqual([again?.handle?.records.length, again?.handle?.isOpened], [2, false]);
  await again?.handle?.append(64, opening.payload, false);
  await again?.handle?.release();
  assert.equal((await summarizeRun(store, 'deadly')).attempts, 2);
  assert.deepEqual(await store.takeDue({ ...wish, except: ['deadly'] }), []);
});

test('a connection that gives each statement another session is asked without prepared ones', {
  skip,
}, async (t) => {
  const store = await fresh(t);
  let named = 0;
  const query = store.pool.query.bind(store.pool);
  store.pool.query = (asked, given) => {
    if (typeof asked === 'string') return query(asked, given);
    named++;
    return Promise.reject(Object.assign(new Error('prepared statement does not exist'), { code: '26000' }));
  };
  await enqueueRun(store, 'job', { id: 'a' });
  const { worker, ended } = work({ store, programs: { job: () => agent.step('work', () => 1) } });
  await until(() => ended.get('a') === 'well');
  await worker.stop();
  assert.equal(named, 1);
});

test('connections that are cut, the one for news too, delay and lose nothing', { skip }, async (t) => {
  const store = await fresh(t);
  const programs = { job: () => agent.step('work', () => 1) };
  const { worker, ended } = work({ store, programs });
  for (let round = 0; round < 5; round++) {
    await tell(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
    );
    await enqueueRun(store, 'job', { id: `r${round}` });
    await until(() => ended.get(`r${round}`) === 'well');
  }
  await worker.stop();
});

test('tables of an older release get what they lack, and its rows are gone through', { skip }, async (t) => {
  await tell('drop table if exists agentdump_runs, agentdump_records, agentdump_answers');
  await tell(
    'create table agentdump_runs (run_id text primary key, epoch bigint not null, holder text, lease_until timestamptz not null)',
  );
  const store = await PostgresStore.connect(server.url);
  t.after(() => store.close());
  const program = () => agent.step('work', () => 1);
  for (const id of ['over', 'other', 'begun'])
    await agent.run(
      id === 'other' ? 'other' : 'job',
      { id, durable: true, store, notify: () => {} },
      program,
    );
  await tell("delete from agentdump_records where run_id = 'begun' and seq > 1");
  await tell("update agentdump_runs set name = null, is_over = false, due_at = '-infinity'");
  const { worker, ended } = work({ store, programs: { job: program } });
  await until(async () => {
    const rows = await tell('select from agentdump_runs where name is null or not is_over');
    return rows.length === 0;
  });
  await worker.stop();
  assert.deepEqual([...ended], [['begun', 'well']]);
});

test('among 20,000 runs that are over and 1,000 that wait an interrupted one is found at once', {
  skip,
}, async (t) => {
  const store = await fresh(t);
  await tell(`insert into agentdump_runs (run_id, epoch, lease_until, name, is_over)
    select 'over' || n, 1, now(), 'job', true from generate_series(1, 20000) as n`);
  await tell(`insert into agentdump_runs (run_id, epoch, lease_until, name, due_at)
    select 'waits' || n, 1, now(), 'job', 'infinity' from generate_series(1, 1000) as n`);
  await enqueueRun(store, 'job', { id: 'interrupted' });
  await tell('analyze agentdump_runs');
  const [plan] = await tell(`explain (analyze, format json) select run_id from agentdump_runs
    where not is_over and due_at <= now() order by priority desc, due_at limit 4`);
  assert.match(JSON.stringify(plan), /agentdump_runs_due/);
  const { worker, ended } = work({ store, programs: { job: () => agent.step('work', () => 1) } });
  await until(() => ended.has('interrupted'));
  await worker.stop();
});

test('ids of any length, and a closed store', { skip }, async (t) => {
  const store = await fresh(t);
  const id = 'ü'.repeat(9_000);
  const { worker, ended } = work({ store, programs: { job: () => agent.step('work', () => 1) } });
  await enqueueRun(store, 'job', { id });
  await until(() => ended.get(id) === 'well');
  assert.deepEqual(await store.list(), [id]);
  await store.close();
  await worker.ended;
  await assert.rejects(store.list(), /is closed/);
  await assert.rejects(store.open('x'), /is closed/);
});

test('prune removes old finished runs with their answers, and no others', { skip }, async (t) => {
  const store = await fresh(t);
  const day = 24 * 3_600_000;
  const limits = { maxRuns: 1_000, maxBytes: 1e9, maxDays: 30 };
  const program = (fails: boolean) => async () => {
    await agent.step('work', () => 'x'.repeat(1_000));
    if (fails) throw new Error('no more');
  };
  for (const id of ['old', 'old-failed', 'young'])
    await agent
      .run('job', { id, durable: true, store, notify: () => {} }, program(id === 'old-failed'))
      .catch(() => {});
  await enqueueRun(store, 'job', { id: 'old-queued' });
  await store.answer('old', 'x', Buffer.from('y'));
  await tell("update agentdump_records set at_ms = at_ms - $1 where run_id like 'old%'", [31 * day]);
  const dry = await prunePostgresRuns(store, limits, { dryRun: true });
  assert.deepEqual(dry.removed, ['old']);
  assert.deepEqual(await prunePostgresRuns(store, limits), dry);
  assert.deepEqual(await store.list(), ['old-failed', 'old-queued', 'young']);
  assert.deepEqual(await tell('select from agentdump_answers'), []);
  assert.ok(dry.freedBytes > 1_000);
});

test('a look reads rows that are due, however many have ended or wait', { skip }, async (t) => {
  const store = await fresh(t);
  await tell(`
    insert into agentdump_runs (run_id, epoch, lease_until, name, is_over, due_at)
    select 'f' || n, 1, now(), 'job', true, now() from generate_series(1, 20000) n
    union all select 'w' || n, 1, now(), 'job', false, 'infinity' from generate_series(1, 500) n
    union all select 'l' || n, 1, now(), 'job', false, now() + n * interval '1 hour' from generate_series(1, 500) n`);
  await tell('analyze agentdump_runs');
  await (await store.open('interrupted', { name: 'job', isWork: true })).release();
  const asked: { text: string; values: unknown[] }[] = [];
  listen(store, (text, values) => asked.push({ text, values }));
  const found = await store.findDue(['job'], 4);
  assert.deepEqual(found, [{ id: 'interrupted', name: 'job' }]);
  assert.equal(asked.length, 2);
  await tell(`update agentdump_runs set due_at = now() where run_id = 'interrupted'`);
  for (const { text, values } of asked) {
    const client = new Client(server.url);
    await client.connect();
    try {
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, values);
      assert.ok(rowsRead(rows[0]['QUERY PLAN'][0].Plan) < 50, JSON.stringify(rows));
    } finally {
      await client.end();
    }
  }
});

interface Plan {
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

function rowsRead(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0);
  return plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + below;
}

test('a signal to a run that was queued for later makes it no earlier due, and is there when it begins', {
  skip,
}, async (t) => {
  const store = await fresh(t);
  await enqueueRun(store, 'job', { id: 'later', startAt: new Date(Date.now() + 3_600_000) });
  await enqueueRun(store, 'job', { id: 'now' });
  for (const id of ['later', 'now']) await sendSignal(store, id, 'news', { value: 1 });
  assert.deepEqual(await store.findDue(['job'], 9), [{ id: 'now', name: 'job' }]);
  const options = { id: 'later', durable: true, store } as const;
  const job = () => agent.waitForSignal('news');
  registerPrograms({ job });
  const given = await agent.run('job', options, job);
  assert.equal(given?.value, 1);
});

test('a table of an older release gets the columns that it lacks', { skip }, async () => {
  await tell('drop table agentdump_runs cascade');
  await tell(`create table agentdump_runs (
    run_id text primary key, epoch bigint not null, holder text, lease_until timestamptz not null)`);
  for (const _ of ['old', 'new']) {
    const store = await PostgresStore.connect(server.url);
    await enqueueRun(store, 'job', { id: 'a' });
    await store.close();
  }
  const [row] = await tell('select is_firm, is_over from agentdump_runs');
  assert.deepEqual(row, { is_firm: false, is_over: false });
});
