/**
 * A process whose inspector can't be opened because another one has the port: nothing is said about its main thread then. Both
 * are in a network namespace of their own, so that no other test meets the port.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { partNames } from '../../../src/bundle/layout/bundle.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { captureLive } from '../../../src/supervise/attach/capture-live.ts';
import { makeScrubber } from '../../../src/supervise/scrub/scrubber.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';

const noNamespace = spawnSync('unshare', ['-n', 'true']).status !== 0 && 'no right to a network namespace';
const dir = mkdtempSync(join(tmpdir(), 'agentdump-port-'));
const holder = "require('net').createServer().listen(9229, '127.0.0.1', () => console.log('held'))";
/** It spins when the port is taken; its child ends with it. */
const program = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(`process.on('disconnect', () => process.exit()); ${holder}`)}], {
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  child.stdout.once('data', () => { require('node:fs').writeSync(1, 'spins'); for (;;); });
`;
let pid = 0;
const stops: (() => void)[] = [];

/** The pid of a program that spins. */
async function start(...options: string[]): Promise<number> {
  const child = spawn('unshare', ['-n', process.execPath, ...options, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stops.push(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

before(async () => {
  if (!noNamespace) pid = await start();
});
after(() => {
  for (const stop of stops) stop();
  rmSync(dir, { recursive: true });
});

async function look(more: Record<string, unknown>) {
  const { path, answered, unasked } = await captureLive({
    pid,
    dir,
    scrubber: makeScrubber({}),
    kind: 'silence',
    more,
  });
  assert.deepEqual([answered, unasked], [false, 'port-taken']);
  const bundle = openBundle(path);
  const account = await analyzeBundle(bundle);
  bundle.close();
  assertOfSchema(account);
  const gap = account.gaps.find(({ part }) => part === partNames.locals)?.reason;
  assert.match(gap ?? '', /another process has the port of the inspector \(9229\)/);
  return account.verdict;
}

test('a hang seen by a health check', { skip: noNamespace }, async () => {
  const verdict = await look({});
  assert.equal(verdict?.kind, 'event-loop-hang');
  assert.equal(verdict.confidence, 'likely');
  assert.match(verdict.summary, /Where its thread was is not known/);
  assert.doesNotMatch(JSON.stringify(verdict), /native code|system call|in JavaScript/);
});

test('a test run that was stopped', { skip: noNamespace }, async () => {
  const at = new Date().toISOString();
  const running = [{ name: ['orders'], startedAt: at }];
  const verdict = await look({
    [partNames.tests]: { running, finished: 0, failed: 0, stop: { why: 'hang', at } },
  });
  assert.deepEqual([verdict?.kind, verdict?.confidence], ['no-progress', 'likely']);
  assert.match(verdict?.summary ?? '', /Where the main thread was is not known/);
  assert.doesNotMatch(JSON.stringify(verdict), /synchronous call/);
});

test('a port of its own is not the one that is taken', { skip: noNamespace }, async () => {
  const other = await start('--inspect-port=39335');
  const { unasked } = await captureLive({ pid: other, dir, scrubber: makeScrubber({}), kind: 'silence' });
  assert.equal(unasked, undefined);
});
