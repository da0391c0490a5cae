/**
 * Three workers of queues with limits, killed at random instants and restarted, on files and on PostgreSQL: at no time more
 * runs are at work than the limits permit, in total and per key; in no period more are started than the rate permits; each
 * run ends, and no step is repeated unless it was named in doubt. AGENTDUMP_KILLS sets how many kills.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueueRun } from '../../../src/durable/dispatch/act-on-run.ts';
import { summarizeRun } from '../../../src/durable/inspect.ts';
import { openStore } from '../../../src/durable/stores/find-store.ts';
import { PostgresStore } from '../../../src/durable/stores/postgres-store.ts';
import type { DurableStore } from '../../../src/durable/stores/store.ts';
import { startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { until } from '../until.ts';
import { WorkerProcesses } from './worker-processes.ts';

const wantedKills = Number(process.env['AGENTDUMP_KILLS'] ?? 12);
const manyRuns = 36;
const keys = ['k0', 'k1', 'k2', 'k3'];
const queues = {
  narrow: { concurrency: 3, perKey: { concurrency: 1 } },
  slow: { concurrency: 4, rate: { starts: 5, periodMs: 700 } },
};
const folder = mkdtempSync(join(tmpdir(), 'agentdump-queue-kills-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const workers = new WorkerProcesses('limited-worker.mjs');

const queueOf = (run: string) => (Number(run.slice(1)) % 3 === 0 ? 'slow' : 'narrow');
const keyOf = (run: string) => keys[Number(run.slice(1)) % keys.length] ?? '';

interface Event {
  pid: number;
  run: string;
  what: string;
}

function readEvents(truth: string): Event[] {
  return readFileSync(truth, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** A killed process was at work at its runs until it last wrote something. */
function requireLimits(events: readonly Event[]): { mostInQueue: number; mostOfKey: number } {
  const lastOf = new Map(events.map(({ pid }, index) => [pid, index]));
  const atWork = new Map<string, string>();
  let [mostInQueue, mostOfKey] = [0, 0];
  for (const [index, { pid, run, what }] of events.entries()) {
    const place = `${pid} ${run}`;
    if (what === 'begin') atWork.set(place, run);
    const runs = [...atWork.values()];
    for (const queue of ['narrow', 'slow'] as const) {
      const inQueue = runs.filter((one) => queueOf(one) === queue);
      assert.ok(inQueue.length <= queues[queue].concurrency, `${queue}: ${inQueue} at line ${index}`);
      if (queue === 'slow') continue;
      mostInQueue = Math.max(mostInQueue, inQueue.length);
      for (const key of keys) {
        const many = inQueue.filter((one) => keyOf(one) === key).length;
        mostOfKey = Math.max(mostOfKey, many);
        assert.ok(many <= 1, `${key}: ${inQueue} at line ${index}`);
      }
    }
    if (what === 'end') atWork.delete(place);
    if (lastOf.get(pid) === index)
      for (const left of atWork.keys()) if (left.startsWith(`${pid} `)) atWork.delete(left);
  }
  return { mostInQueue, mostOfKey };
}

/** `starts`: the times that the store has noted, in milliseconds. */
function requireRate(starts: readonly number[], events: readonly Event[]): void {
  const { starts: most, periodMs } = queues.slow.rate;
  const sorted = starts.toSorted((a, b) => a - b);
  for (let index = most; index < sorted.length; index++)
    assert.ok(sorted[index]! - sorted[index - most]! > periodMs - 0.01, `start ${index} of ${sorted}`);
  const begun = events.filter(({ run, what }) => what === 'begin' && queueOf(run) === 'slow').length;
  assert.ok(begun <= starts.length, `${begun} began, ${starts.length} noted`);
  assert.ok(begun >= manyRuns / 3);
}

function requireEffects(events: readonly Event[], ids: readonly string[]): void {
  for (const id of ids)
    for (const name of ['one', 'two', 'three']) {
      const tries = events.filter(({ run, what }) => run === id && what.startsWith(`${name} `));
      assert.ok(tries.length > 0, `${name} of ${id} never took place`);
      const unnamed = tries.filter(({ what }) => !what.endsWith('in doubt'));
      // None: its process died after the record of its start.
      assert.ok(unnamed.length <= 1, JSON.stringify(tries));
    }
}

/** `findStarts`: all that the store has noted of the queue with a rate. */
async function killAround(
  place: string,
  truth: string,
  findStarts: (store: DurableStore) => Promise<number[]>,
) {
  const store = await openStore(place);
  const ids = Array.from({ length: manyRuns }, (_, index) => `r${index}`);
  const begin = () => workers.begin(place, truth, JSON.stringify(queues));
  let starts: number[] = [];
  try {
    for (const id of ids) await enqueueRun(store, 'job', { id, queue: queueOf(id), queueKey: keyOf(id) });
    const children = await Promise.all([begin(), begin(), begin()]);
    for (let kills = 0; kills < wantedKills; kills++) {
      await sleep(Math.random() * 200);
      const which = Math.floor(Math.random() * children.length);
      await workers.kill(children[which]!);
      children[which] = await begin();
    }
    await until(async () => {
      const states = await Promise.all(ids.map(async (id) => (await summarizeRun(store, id)).state));
      return states.every((state) => state === 'finished');
    });
    starts = await findStarts(store);
  } finally {
    await workers.killAll();
    await store.close();
  }
  const events = readEvents(truth);
  const { mostInQueue, mostOfKey } = requireLimits(events);
  assert.equal(mostInQueue, queues.narrow.concurrency);
  assert.equal(mostOfKey, queues.narrow.perKey.concurrency);
  requireRate(starts, events);
  requireEffects(events, ids);
}

test('on files: no limit is exceeded, and nothing is lost or done twice unnamed', () => {
  const place = join(folder, 'dumps');
  return killAround(place, join(folder, 'truth-files'), async () => {
    const path = join(place, 'runs', '.queues', 'slow', 'starts');
    if (!existsSync(path)) return [];
    // A line that is being written, or was torn by a death, is not a start yet.
    return [...readFileSync(path, 'utf8').matchAll(/^\{"atMs":(\d+),.*\}$/gm)].map(([, atMs]) =>
      Number(atMs),
    );
  });
});

test('on PostgreSQL: no limit is exceeded, and nothing is lost or done twice unnamed', {
  skip: whyNoPostgres() ?? false,
}, async () => {
  const server = await startPostgres();
  try {
    // Otherwise the clean-up of old starts would hide some of them.
    const store = await PostgresStore.connect(server.url);
    await store.pool.query(
      `create table seen as select * from agentdump_starts;
       create function see() returns trigger language plpgsql as $$
         begin insert into seen select new.*; return new; end $$;
       create trigger see before insert on agentdump_starts for each row execute function see();`,
    );
    await store.close();
    await killAround(server.url, join(folder, 'truth-postgres'), async (store) => {
      const { rows } = await (store as PostgresStore).pool.query(
        "select extract(epoch from at)::float8 * 1000 as at_ms from seen where queue = 'slow'",
      );
      return (rows as { at_ms: number }[]).map(({ at_ms }) => at_ms);
    });
  } finally {
    await workers.killAll();
    await server.remove();
  }
});
