/**
 * Two processes that perform runs and one that queues and answers them, killed at random instants and restarted: at the end each
 * run has finished, each effect took place, and no effect was repeated unless its step was named in doubt. AGENTDUMP_KILLS sets
 * how many kills.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { summarizeRun } from '../../../src/durable/inspect.ts';
import { openStore } from '../../../src/durable/stores/find-store.ts';
import { startPostgres } from '../../support/system/postgres.ts';
import { until } from '../until.ts';
import { WorkerProcesses } from './worker-processes.ts';

const wantedKills = Number(process.env['AGENTDUMP_KILLS'] ?? 16);
const manyRuns = 30;
const folder = mkdtempSync(join(tmpdir(), 'agentdump-worker-kills-'));
let truths = 0;
const processes = new WorkerProcesses('many-runs.mjs');
after(() => rmSync(folder, { recursive: true, force: true }));

/** What performs the runs: a worker of ours, or the jobs of another queue. */
export type Performer = 'worker' | 'graphile-worker' | 'pg-boss';
type Role = Performer | 'outside';

const begin = (role: Role, place: string, truth: string) =>
  processes.begin(role, place, truth, String(manyRuns));

interface Effect {
  run: string;
  name: string;
  attempt: number;
  inDoubt: boolean;
}

function readEffects(truth: string): Effect[] {
  if (!existsSync(truth)) return [];
  const lines = readFileSync(truth, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

const stepsOf: Record<string, string[]> = {
  plain: ['one', 'two', 'three'],
  beside: ['one', 'two', 'three', 'one more', 'two more', 'three more'],
  asks: ['one', 'two', 'three'],
  hears: ['one', 'two'],
  naps: ['one', 'two', 'three'],
  starts: ['one', 'child 1', 'child 2', 'two'],
};

async function killAround(performer: Performer, place: string): Promise<void> {
  const truth = join(folder, `truth-${truths++}`);
  const store = await openStore(place);
  const ids = Array.from({ length: manyRuns }, (_, index) => `r${index}`);
  const nameOf = (id: string) =>
    Object.keys(stepsOf)[Number(id.slice(1)) % Object.keys(stepsOf).length] ?? '';
  const sent = new Set<string>();
  /** Sends each once, in order, as soon as its run has begun. */
  const signal = async () => {
    const queued = new Set(await store.list());
    for (const id of ids) {
      if (sent.has(id) || nameOf(id) !== 'hears' || !queued.has(id)) continue;
      if ((await summarizeRun(store, id)).name === '') continue;
      sent.add(id);
      for (const value of [1, 2]) await sendSignal(store, id, 'news', { value });
    }
  };
  const roles: Role[] = [performer, performer, 'outside'];
  const children = await Promise.all(roles.map((role) => begin(role, place, truth)));
  for (let kills = 0; kills < wantedKills; kills++) {
    await sleep(Math.random() * 250);
    await signal();
    const which = Math.floor(Math.random() * roles.length);
    await processes.kill(children[which]!);
    children[which] = await begin(roles[which]!, place, truth);
  }
  await until(async () => {
    await signal();
    const states = await Promise.all(
      ids.map((id) =>
        summarizeRun(store, id).then(
          ({ state }) => state,
          () => 'absent',
        ),
      ),
    );
    if (states.every((state) => state === 'finished')) return true;
    await sleep(200);
    return false;
  });
  // The entries that are left in the store are removed at a worker's next look.
  if (existsSync(place))
    await until(() => readdirSync(join(place, 'runs', '.open')).every((name) => name.startsWith('.')));
  await processes.killAll();
  await store.close();

  const effects = readEffects(truth);
  for (const id of ids) {
    const own = effects.filter(({ run }) => run === id);
    const names = new Set(own.map(({ name }) => name));
    assert.deepEqual([...names].toSorted(), stepsOf[nameOf(id)]?.toSorted(), id);
    for (const name of names) {
      const tries = own.filter((effect) => effect.name === name);
      const unnamed = tries.filter(({ inDoubt }) => !inDoubt).map(({ attempt }) => attempt);
      assert.equal(new Set(unnamed).size, unnamed.length, `${id} ${name}: ${JSON.stringify(tries)}`);
    }
  }
}

export const killOnFiles = () => killAround('worker', join(folder, 'dumps'));

export async function killOnPostgres(performer: Performer): Promise<void> {
  const server = await startPostgres();
  try {
    await killAround(performer, server.url);
  } finally {
    await processes.killAll();
    await server.remove();
  }
}
