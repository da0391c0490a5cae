/** The commands about durable runs, through the built program. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onlyWide } from '../support/run/test-nodes.ts';

const cli = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const asks = fileURLToPath(new URL('../durable/programs/asks.mjs', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'agentdump-cli-runs-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

let count = 0;
function fresh() {
  const dir = join(scratch, `dumps-${count++}`);
  const truth = join(scratch, `truth-${count}`);
  const env = { ...process.env, AGENTDUMP_DIR: dir };
  const agentdump = (...words: string[]) =>
    spawnSync(process.execPath, [cli, ...words], { env, encoding: 'utf8' });
  return { dir, truth, env, agentdump };
}

/** Starts the program and kills it once its question is on disk. */
async function killWhileItWaits({ truth, env, agentdump }: ReturnType<typeof fresh>): Promise<void> {
  const child = spawn(process.execPath, [asks, truth], { env, stdio: 'ignore' });
  while (JSON.parse(agentdump('runs', '--json').stdout)[0]?.steps.finished !== 2)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await end(child, 'SIGKILL');
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', () => resolve());
    child.kill(signal);
  });
}

test('killed while it waits, approved while it is down, resumed by the command line that was kept', {
  skip: onlyWide,
}, async () => {
  const place = fresh();
  const { truth, agentdump } = place;
  await killWhileItWaits(place);
  const [run] = JSON.parse(agentdump('runs', '--json').stdout);
  assert.equal(run.id, 'b1');
  assert.equal(run.state, 'waiting');
  assert.equal(run.steps.finished, 2);
  assert.deepEqual(
    run.waitingFor.map(({ path }: { path: string }) => path),
    ['book'],
  );
  assert.match(
    agentdump('runs').stdout,
    /^b1 {2}booking {2}waiting\n {2}2 steps finished, .*\n {2}waits for approval: book, /,
  );
  assert.match(
    agentdump('runs', 'b1').stdout,
    /^b1 {2}booking {2}waiting[\s\S]*\n +\+.* approval +book +waits for a person[\s\S]*\nNext\n {2}agentdump approve b1 /,
  );
  const answer = agentdump('approve', 'b1', 'book', '--value', '{"price":99}');
  assert.equal(answer.stdout, 'b1: book approved\n');
  assert.equal(agentdump('approve', 'b1', 'book').status, 2);
  const resumed = agentdump('resume', 'b1');
  assert.equal(resumed.stdout, 'booked Polar for 99\n', resumed.stderr);
  assert.equal(resumed.status, 0);
  assert.match(resumed.stderr, /run b1: resumes, attempt 2: 2 steps .*kept, nothing lost/);
  assert.equal(readFileSync(truth, 'utf8'), 'asked\n');
  assert.equal(JSON.parse(agentdump('runs', '--json').stdout)[0].state, 'finished');
});

test('rejected, with a command of its own', { skip: onlyWide }, async () => {
  const place = fresh();
  const { truth, agentdump } = place;
  await killWhileItWaits(place);
  assert.equal(agentdump('reject', 'b1', 'book').stdout, 'b1: book rejected\n');
  const resumed = agentdump('resume', 'b1', '--', process.execPath, asks, truth);
  assert.equal(resumed.stdout, 'not booked\n');
});

test('rolled back to before a step, it is done again', { skip: onlyWide }, async () => {
  const place = fresh();
  const { truth, env, agentdump } = place;
  await killWhileItWaits(place);
  agentdump('approve', 'b1', 'book');
  assert.equal(agentdump('resume', 'b1').stdout, 'booked Polar for 120\n');
  assert.equal(
    agentdump('rollback', 'b1', '--to', 'book').stdout,
    'b1: back to before step book; to be done again: book\n',
  );
  assert.equal(JSON.parse(agentdump('runs', '--json').stdout)[0].state, 'interrupted');
  assert.equal(
    execFileSync(process.execPath, [asks, truth], { env, encoding: 'utf8' }),
    'booked Polar for 120\n',
  );
});

test('what is not there, and wrong words', { skip: onlyWide }, () => {
  const { agentdump } = fresh();
  assert.equal(agentdump('runs').stdout, '');
  assert.equal(agentdump('runs').status, 0);
  for (const words of [
    ['resume', 'x'],
    ['rollback', 'x', '--to', 'c1'],
    ['approve', 'x', 'y'],
    ['signal', 'x', 'y'],
    ['cancel', 'x'],
  ]) {
    const { status, stderr } = agentdump(...words);
    assert.equal(status, 3, stderr);
    assert.match(stderr, /no run x/);
  }
  assert.equal(agentdump('rollback', 'x').status, 2);
  assert.equal(agentdump('approve', 'x', 'y', '--value', '{').status, 2);
});

test('queued, told a signal, cancelled', { skip: onlyWide }, () => {
  const { agentdump } = fresh();
  const queued = agentdump('enqueue', 'job', '--id', 'a', '--input', '{"to":"oslo"}', '--at', '2999-01-01');
  assert.equal(queued.stdout, 'a\n', queued.stderr);
  const again = agentdump('enqueue', 'job', '--id', 'a');
  assert.match(again.stderr, /run a exists already/);
  assert.equal(
    agentdump('signal', 'a', 'news', '--value', '1').stdout,
    'a: signal news sent, number 1 of its name\n',
  );
  assert.match(agentdump('runs').stdout, /^a {2}job {2}queued\n/);
  assert.equal(agentdump('cancel', 'a', '--reason', 'no budget').stdout, 'a: cancelled\n');
  assert.match(agentdump('runs').stdout, /^a {2}job {2}cancelled\n/);
  assert.equal(agentdump('cancel', 'a').status, 2);
  assert.equal(agentdump('enqueue', 'job', '--at', 'soon').status, 2);
});
