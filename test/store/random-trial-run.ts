/**
 * Kills senders and their PostgreSQL server at random moments, again and again, then lets one sender run undisturbed, and
 * counts: each death must be stored once, with its whole bundle. `npm run trial:store [sends]`, 300 by default. Prints a
 * line, and exits with 1 if a death is missing or stored twice.
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
import { startPostgres } from '../support/system/postgres.ts';
import { writeDeath } from './synth-death.ts';

const cli = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const sends = Number(process.argv[2] ?? 300);
const [folders, bundlesEach, faults, atOnce] = [4, 25, 10, 4];

const root = mkdtempSync(join(tmpdir(), 'agentdump-trial-store-'));
const server = await startPostgres();
const place = `${server.url} ${join(root, 'blobs')}`;
const dumps = Array.from({ length: folders }, (_, n) => join(root, `dumps-${n}`));
for (const dir of dumps) {
  mkdirSync(dir, { mode: 0o700 });
  for (let n = 0; n < bundlesEach; n++) writeDeath(dir, { message: `fault ${'abcdefghij'[n % faults]}` });
}
await (await openStore(place)).close();

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let begun = 0;
let killed = 0;
let outages = 0;
let isOver = false;

const start = (n: number): ChildProcess =>
  spawn(process.execPath, [cli, 'send', '--all', '--dir', dumps[n % folders]!, '--to', place], {
    stdio: 'ignore',
  });

async function sendAndKill(): Promise<void> {
  while (begun < sends) {
    const child = start(begun++);
    const exit = once(child, 'exit');
    // Starting a sender alone takes a few hundred milliseconds.
    const timer = setTimeout(() => child.kill('SIGKILL'), 200 + 1500 * Math.random());
    const [code] = await exit;
    clearTimeout(timer);
    if (code === null) killed++;
  }
}

async function disturb(): Promise<void> {
  while (!isOver) {
    await wait(1000 + 3000 * Math.random());
    if (isOver) return;
    await server.kill();
    outages++;
    await wait(1000 * Math.random());
    await server.start();
  }
}

try {
  const disturbing = disturb();
  await Promise.all(Array.from({ length: atOnce }, sendAndKill));
  isOver = true;
  await disturbing;
  for (let n = 0; n < folders; n++) {
    const [code] = await once(start(n), 'exit');
    if (code !== 0) throw new Error(`the last sending of a folder ended with ${code}`);
  }
  const store = await openStore(place);
  const issues = await listIssues(store);
  const found: string[] = [];
  let torn = 0;
  for (const { id } of issues)
    for (const { bundle, path } of (await showIssue(store, id, { mostDeaths: 10_000 })).deaths) {
      found.push(bundle);
      if (path === undefined || verifyBundle(path).verdict !== 'whole') torn++;
    }
  await store.close();
  const wanted = folders * bundlesEach;
  const counted = issues.reduce((sum, { count }) => sum + count, 0);
  const lost = wanted - new Set(found).size;
  const twice = Math.max(found.length - new Set(found).size, counted - wanted);
  console.log(
    `${begun} sends, ${killed} killed, ${outages} ends of the database; of ${wanted} deaths lost ${lost}, twice ${twice}, torn ${torn}; ${issues.length} of ${faults} faults`,
  );
  if (lost || twice || torn || issues.length !== faults) process.exitCode = 1;
} finally {
  isOver = true;
  await server.remove();
  rmSync(root, { recursive: true, force: true });
}
