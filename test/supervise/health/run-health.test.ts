/** Programs that become unhealthy under `agentdump run`: what is detected, captured, done, and written into the ledger. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { type LedgerLine, readLedgers } from '../../../src/supervise/run/ledger.ts';
import { majorsInTurn, nodeOf, onlyWide, testMajors } from '../../support/run/test-nodes.ts';
import { findFreePort } from '../../support/system/free-port.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const here = fileURLToPath(new URL('../programs/', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'agentdump-health-'));
const children: ChildProcess[] = [];
after(() => {
  for (const { pid, exitCode, signalCode } of children)
    if (pid && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  rmSync(root, { recursive: true });
});
let count = 0;

interface Patient {
  dir: string;
  child: ChildProcess;
  out(): string;
}

async function start(illness: string, options: string[], node = process.execPath): Promise<Patient> {
  const folder = join(root, String(count++));
  const dir = join(folder, 'dumps');
  mkdirSync(folder);
  const port = await findFreePort();
  const words = options.map((word) => word.replace('URL', `http://127.0.0.1:${port}/`));
  const victim = [node, join(here, 'victim-service.mjs'), illness, String(port), join(folder, 'flag')];
  const run = [agentdump, 'run', '--dir', dir, '--restart-delay', '20', ...words, '--', ...victim];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const child = spawn(process.execPath, run, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  children.push(child);
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  return { dir, child, out: () => out };
}

async function untilEvent(dir: string, event: LedgerLine['event']): Promise<LedgerLine[]> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const [ledger] = readLedgers(dir);
    if (ledger?.lines.some((line) => line.event === event)) {
      assert.equal(ledger.brokenAt, undefined);
      return ledger.lines;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`no ${event}: ${JSON.stringify(readLedgers(dir))}`);
}

async function end({ child }: Patient): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

const one = <E extends LedgerLine['event']>(lines: LedgerLine[], event: E) =>
  lines.find((line) => line.event === event) as Extract<LedgerLine, { event: E }> | undefined;

async function accountOf(path: string) {
  const bundle = openBundle(path);
  try {
    for (const part of bundle.parts)
      assert.ok(!bundle.readPart(part.name)?.includes('hunter2-very-secret'), part.name);
    return { account: await analyzeBundle(bundle), trigger: bundle.readJson('trigger.json') };
  } finally {
    bundle.close();
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const healing = ['unhealthy', 'triage', 'dump', 'stop', 'exit', 'restart', 'start', 'recovered'];

for (const major of majorsInTurn(...testMajors))
  test(`Node ${major}, a loop that spins: its stack with variables, killed, well again`, async () => {
    const patient = await start(
      'spin',
      ['--restart=on-failure', '--health-url', 'URL', '--health-every=200'],
      nodeOf(major),
    );
    const lines = await untilEvent(patient.dir, 'recovered');
    assert.deepEqual(
      lines
        .map((line) => line.event)
        .filter((event) => event !== 'supervise')
        .slice(1),
      healing,
    );
    assert.equal(one(lines, 'unhealthy')?.level, 'health');
    assert.equal(one(lines, 'triage')?.condition, 'spinning');
    const dump = one(lines, 'dump');
    assert.equal(dump?.how, 'inspector');
    assert.deepEqual(one(lines, 'stop')?.signals, ['SIGKILL']);
    assert.deepEqual(lines.find((line) => line.event === 'start' && line.attempt === 1)?.event, 'start');
    const { account } = await accountOf(dump?.bundle ?? '');
    const frame = account.threads?.[0]?.frames[0];
    assert.equal(frame?.function, 'spin');
    assert.equal(frame?.locals?.find(({ name }) => name === 'word')?.value, '"forever"');
    assert.equal(listBundles(patient.dir).length, 1, 'one bundle for one illness');
    await end(patient);
  });

test('a main thread that blocks in a system call: read past it, from its memory', {
  skip: onlyWide || process.arch !== 'x64',
}, async () => {
  const patient = await start('block', ['--restart=on-failure', '--health-url=URL', '--health-every=200']);
  const lines = await untilEvent(patient.dir, 'recovered');
  assert.equal(one(lines, 'triage')?.condition, 'blocked');
  const dump = one(lines, 'dump');
  assert.equal(dump?.how, 'live-core');
  const { account } = await accountOf(dump?.bundle ?? '');
  const main = account.threads?.find(({ kind }) => kind === 'main');
  assert.ok(
    main?.frames.some((frame) => frame.function === 'Object.block'),
    JSON.stringify(main?.frames),
  );
  await end(patient);
});

test('a main thread that waits for a child in execSync: known for blocked, and the child is named', {
  skip: onlyWide,
}, async () => {
  const patient = await start('child', ['--restart=on-failure', '--hang=400']);
  const lines = await untilEvent(patient.dir, 'recovered');
  assert.equal(one(lines, 'unhealthy')?.check, 'main-thread');
  const triage = one(lines, 'triage');
  assert.equal(triage?.condition, 'blocked');
  assert.match(triage?.finding ?? '', /is in a synchronous call and has the child \d+$/);
  const { account } = await accountOf(one(lines, 'dump')?.bundle ?? '');
  assert.equal(account.verdict?.kind, 'event-loop-hang');
  assert.match(JSON.stringify(account.verdict), /sleep 60/);
  await end(patient);
});

test('an endpoint that answers 503: ended gently, for its main thread could', {
  skip: onlyWide,
}, async () => {
  const patient = await start('answer', ['--restart=always', '--health-url=URL', '--health-every=200']);
  const lines = await untilEvent(patient.dir, 'recovered');
  assert.match(one(lines, 'unhealthy')?.what ?? '', /status 503/);
  assert.equal(one(lines, 'triage')?.condition, 'waiting');
  assert.deepEqual(one(lines, 'stop')?.signals, ['SIGTERM']);
  await end(patient);
});

test('a heartbeat that stops', { skip: onlyWide }, async () => {
  const patient = await start('silent', ['--restart=on-failure', '--heartbeat=400']);
  const lines = await untilEvent(patient.dir, 'recovered');
  assert.equal(one(lines, 'unhealthy')?.level, 'behaviour');
  assert.match(one(lines, 'dump')?.bundle ?? '', /-no-progress-/);
  await end(patient);
});

test('a main thread that never comes back, with nothing asked of it', { skip: onlyWide }, async () => {
  const patient = await start('spin', ['--restart=on-failure', '--hang=500']);
  const lines = await untilEvent(patient.dir, 'recovered');
  assert.equal(one(lines, 'unhealthy')?.check, 'main-thread');
  assert.match(one(lines, 'triage')?.finding ?? '', /does not turn/);
  await end(patient);
});

test('a main thread that is only busy is left alone', { skip: onlyWide }, async () => {
  const patient = await start('busy', ['--restart=on-failure', '--hang=400']);
  const lines = await untilEvent(patient.dir, 'triage');
  assert.equal(one(lines, 'triage')?.condition, 'busy');
  await new Promise((done) => setTimeout(done, 300));
  assert.equal(patient.child.exitCode, null);
  assert.deepEqual(listBundles(patient.dir), []);
  await end(patient);
});

test('over its memory limit: ended, and begun afresh', { skip: onlyWide }, async () => {
  const patient = await start('eat', ['--restart=on-failure', '--memory-limit=200M', '--fresh-state=state']);
  mkdirSync(join(patient.dir, '..', 'state'));
  const lines = await untilEvent(patient.dir, 'recovered');
  assert.match(one(lines, 'unhealthy')?.what ?? '', /over the limit of 200 MB/);
  const fresh = one(lines, 'fresh-state');
  assert.ok(fresh?.moved && existsSync(fresh.moved));
  assert.match(patient.out(), /up \d+ -\n(?:.|\n)*up \d+ memory limit\n/);
  const restarted = lines.find((line) => line.event === 'start' && line.attempt === 1);
  assert.deepEqual((restarted as { escalated?: string[] }).escalated, [
    'AGENTDUMP_LOCALS',
    'AGENTDUMP_CONTEXT',
    'AGENTDUMP_MEMORY_PERCENT',
    'AGENTDUMP_FRESH_STATE',
  ]);
  await end(patient);
});

test('without --restart an ill program is dumped and left running', { skip: onlyWide }, async () => {
  const patient = await start('spin', ['--health-url=URL', '--health-every=200']);
  const lines = await untilEvent(patient.dir, 'dump');
  assert.ok(one(lines, 'dump')?.bundle);
  await new Promise((done) => setTimeout(done, 500));
  assert.equal(patient.child.exitCode, null);
  const pid = Number(/up (\d+)/.exec(patient.out())?.[1]);
  process.kill(pid, 'SIGKILL');
  await once(patient.child, 'exit');
});

test('a program that is stopped on purpose is not ill', { skip: onlyWide }, async () => {
  const patient = await start('none', [
    '--restart=always',
    '--health-url=URL',
    '--health-every=200',
    '--hang=500',
  ]);
  while (!patient.out().includes('up')) await once(patient.child.stdout!, 'data');
  const pid = Number(/up (\d+)/.exec(patient.out())?.[1]);
  process.kill(pid, 'SIGSTOP');
  await new Promise((done) => setTimeout(done, 2500));
  process.kill(pid, 'SIGCONT');
  await new Promise((done) => setTimeout(done, 300));
  await end(patient);
  assert.equal(one(readLedgers(patient.dir)[0]?.lines ?? [], 'unhealthy'), undefined);
});

test('the readiness file is there while the program is well', { skip: onlyWide }, async () => {
  const patient = await start('answer', [
    '--restart=always',
    '--health-url=URL',
    '--health-every=200',
    '--ready-file=ready',
  ]);
  const ready = join(patient.dir, '..', 'ready');
  const pids = new Set<string>();
  for (const deadline = Date.now() + 20_000; pids.size < 2 && Date.now() < deadline; ) {
    const text = readIfThere(ready);
    if (text !== undefined) pids.add(text.trim());
    await new Promise((done) => setTimeout(done, 10));
  }
  const ups = () => [...patient.out().matchAll(/up (\d+)/g)].map(([, pid]) => pid);
  // The file may be read before the pipe.
  while (ups().length < 2 && patient.child.exitCode === null) await once(patient.child.stdout!, 'data');
  assert.deepEqual([...pids], ups());
  await end(patient);
  assert.equal(existsSync(ready), false);
  assert.deepEqual(readdirSync(join(patient.dir, '..')).sort(), ['dumps', 'flag']);
});
