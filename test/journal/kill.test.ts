/**
 * SIGKILL at a random instant: no acknowledged record is lost and none is misread. 20 kills by default, 200 in the wide run;
 * `npm run kills` is the whole trial of 10,000, which takes longer than `npm test` gives one file.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readJournal } from '../../src/journal/read/reader.ts';
import { isWideRun } from '../support/run/test-nodes.ts';

const kills = Number(process.env['AGENTDUMP_KILLS'] ?? (isWideRun ? 200 : 20));
const victim = fileURLToPath(new URL('./victim-append.mjs', import.meta.url));

/** Runs a victim and kills it at most 12 ms after its first record; returns the last number that it acknowledged. */
async function killOne(dir: string, mode: string): Promise<number> {
  const child = spawn(process.execPath, [victim, dir, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * 12));
  await new Promise((done) => child.once('close', done));
  assert.equal(child.signalCode, 'SIGKILL');
  const said = Buffer.concat(chunks);
  return said.readUInt32LE((Math.floor(said.length / 4) - 1) * 4);
}

/** What is wrong with the journal, given the last acknowledged number; undefined if nothing is. */
function findFault(dir: string, mode: string, acknowledged: number): string | undefined {
  const reading = readJournal(dir);
  let expected = 0;
  for (const { seq, payload } of reading.records) {
    if (!Buffer.from(payload).toString().startsWith(`${seq}:`)) return `record ${seq} says something else`;
    if (seq !== expected && mode === 'unbounded') return `record ${expected} is missing`;
    expected = seq + 1;
  }
  if (expected <= acknowledged) return `acknowledged ${acknowledged}, found up to ${expected - 1}`;
  const bad = reading.gaps.filter((gap) => mode === 'unbounded' || gap.reason !== 'segments-missing');
  return bad.length ? JSON.stringify(bad) : undefined;
}

test(`${kills} kills at random instants lose no acknowledged record`, async () => {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-kill-'));
  const faults: string[] = [];
  let torn = 0;
  let records = 0;
  let next = 0;
  const worker = async () => {
    while (next < kills) {
      const number = next++;
      const mode = number % 2 ? 'bounded' : 'unbounded';
      const dir = join(root, String(number));
      const acknowledged = await killOne(dir, mode);
      records += acknowledged + 1;
      const fault = findFault(dir, mode, acknowledged);
      if (fault) faults.push(`${mode}: ${fault}`);
      const reading = readJournal(dir);
      for (const _ of reading.records);
      if (reading.torn) torn++;
      rmSync(dir, { recursive: true });
    }
  };
  await Promise.all([worker(), worker()]);
  rmSync(root, { recursive: true });
  console.log(`${kills} kills, ${records} acknowledged records, ${torn} torn tails, ${faults.length} faults`);
  assert.deepEqual(faults, []);
});
