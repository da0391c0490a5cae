/**
 * Deaths are sent by many senders, straight to a store in PostgreSQL and through a service in front of it, while senders,
 * services and the database are killed at random moments. Then each sender runs once undisturbed, and everything is counted:
 * each death must be in the store once, with its whole bundle.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verifyBundle } from '../../src/bundle/finished/verify.ts';
import { listIssues, showIssue } from '../../src/store/issues.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeToken } from '../../src/store/service/tokens.ts';
import { findFreePort } from '../support/system/free-port.ts';
import { startPostgres } from '../support/system/postgres.ts';
import { writeDeath } from './synth-death.ts';

const cli = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const faults = [...'abcdefghij'];
/** Of dump folders, each with one sender at a time; every other one sends to the service. */
const folders = 4;
const deathsASender = 10;
const unlimited = 1e9;

export interface TrialResult {
  deaths: number;
  senders: number;
  killedSenders: number;
  killedServices: number;
  killedDatabases: number;
  lost: number;
  twice: number;
  torn: number;
  /** How many issues there are; as many as faults unless something is wrong. */
  issues: number;
  faults: number;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function storeTrial(deaths: number): Promise<TrialResult> {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-trial-store-'));
  const server = await startPostgres();
  const place = `${server.url} ${join(root, 'blobs')}`;
  const service = new Service(place, await findFreePort(), root);
  try {
    const token = await makeTokenIn(place);
    const dumps = Array.from({ length: folders }, (_, n) => join(root, `dumps-${n}`));
    for (const dir of dumps) mkdirSync(dir, { mode: 0o700 });
    const send = (n: number): ChildProcess =>
      spawn(
        process.execPath,
        [cli, 'send', '--all', '--dir', dumps[n]!, '--to', n % 2 ? service.url : place],
        { stdio: 'ignore', env: { ...process.env, AGENTDUMP_STORE_TOKEN: token } },
      );
    await service.start();
    let [written, senders, killedSenders] = [0, 0, 0];
    const die = (n: number): void => {
      for (let one = 0; one < deathsASender && written < deaths; one++)
        writeDeath(dumps[n]!, { message: `fault ${faults[written++ % faults.length]}` });
    };
    // What a whole sending takes here and now, so that the kills fall into the work.
    const began = performance.now();
    die(0);
    die(1);
    for (const n of [0, 1]) await once(send(n), 'exit');
    const wholeMs = (performance.now() - began) / 2;

    const sendAndKill = async (n: number): Promise<void> => {
      while (written < deaths) {
        die(n);
        senders++;
        const child = send(n);
        const timer = setTimeout(() => child.kill('SIGKILL'), wholeMs * (0.3 + 1.7 * Math.random()));
        const [code] = await once(child, 'exit');
        clearTimeout(timer);
        if (code === null) killedSenders++;
      }
    };
    let isOver = false;
    const disturb = async (act: () => Promise<unknown>): Promise<number> => {
      for (let times = 0; ; times++) {
        for (let waited = 0; waited < wholeMs * (1 + 2 * Math.random()) && !isOver; waited += 50)
          await wait(50);
        if (isOver) return times;
        await act();
      }
    };
    const disturbing = Promise.all([
      disturb(() => service.restart()),
      disturb(async () => {
        await server.kill();
        await wait(1000 * Math.random());
        await server.start();
      }),
    ]);
    await Promise.all(dumps.map((_, n) => sendAndKill(n)));
    isOver = true;
    const [killedServices, killedDatabases] = await disturbing;
    const codes = await Promise.all(dumps.map(async (_, n) => (await once(send(n), 'exit'))[0] as unknown));
    if (codes.some((code) => code !== 0))
      throw new Error(`the last sendings of the folders ended with ${codes.join(', ')}`);
    await service.kill();
    return {
      deaths,
      senders,
      killedSenders,
      killedServices,
      killedDatabases,
      ...(await count(place, deaths)),
    };
  } finally {
    await service.kill();
    await server.remove();
    rmSync(root, { recursive: true, force: true });
  }
}

/** `agentdump serve`, which can be killed. */
class Service {
  readonly url: string;
  readonly #start: () => ChildProcess;
  #child: ChildProcess | undefined;

  constructor(place: string, port: number, root: string) {
    this.url = `http://127.0.0.1:${port}/`;
    const words = ['serve', '--store', place, '--port', String(port), '--uploads', join(root, 'uploads')];
    this.#start = () => spawn(process.execPath, [cli, ...words], { stdio: 'ignore' });
  }

  /** Until it answers; it ends at once if the database is not there. */
  async start(): Promise<void> {
    for (;;) {
      if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null)
        this.#child = this.#start();
      const isThere = await fetch(new URL('health', this.url)).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isThere) return;
      await wait(100);
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async restart(): Promise<void> {
    await this.kill();
    await wait(500 * Math.random());
    await this.start();
  }
}

async function makeTokenIn(place: string): Promise<string> {
  const store = await openStore(place);
  try {
    return await makeToken(store.index, {
      name: 'trial',
      may: 'send',
      bundlesPerHour: unlimited,
      bytesPerHour: unlimited * 1000,
    });
  } finally {
    await store.close();
  }
}

async function count(
  place: string,
  wanted: number,
): Promise<Pick<TrialResult, 'lost' | 'twice' | 'torn' | 'issues' | 'faults'>> {
  const store = await openStore(place);
  try {
    const issues = await listIssues(store);
    const found: string[] = [];
    let torn = 0;
    for (const { id } of issues)
      for (const { bundle, path } of (await showIssue(store, id, { mostDeaths: wanted })).deaths) {
        found.push(bundle);
        if (path === undefined || verifyBundle(path).verdict !== 'whole') torn++;
      }
    const counted = issues.reduce((sum, issue) => sum + issue.count, 0);
    const different = new Set(found).size;
    return {
      lost: wanted - different,
      twice: Math.max(found.length - different, counted - wanted),
      torn,
      issues: issues.length,
      faults: faults.length,
    };
  } finally {
    await store.close();
  }
}
