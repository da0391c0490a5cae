/**
 * The sentinel: living processes are distinguished from dead ones, whatever has happened to their pid, machine or container.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AgentdumpError } from '../../src/errors.ts';
import type { SessionFacts } from '../../src/journal/layout/session.ts';
import { classifySession, listSessions, readSession } from '../../src/journal/read/session.ts';
import { describeSession, endSession } from '../../src/journal/write/session.ts';
import { sessionFolder, writeSession } from '../../src/journal/write/session-file.ts';
import { findMemoryCgroup, readCgroupMemory } from '../../src/platform/cgroup.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentdump-session-'));
after(() => rmSync(dir, { recursive: true }));
let count = 0;

function newSession(change: (facts: SessionFacts) => void = () => {}, pid = process.pid) {
  const id = String(count++).padStart(16, '0');
  const folder = sessionFolder(dir, id);
  const facts = describeSession({
    id,
    program: 'app',
    command: ['node', 'app.js'],
    cwd: '/srv',
    heartbeatMs: 0,
    pid,
  });
  change(facts);
  writeSession(folder, facts);
  return { folder, facts };
}
const fateOf = (folder: string) => {
  const { because, ...finding } = classifySession(folder, readSession(folder));
  assert.ok(because.length > 10);
  return finding;
};

test('this very process is alive, and its file is private and whole', () => {
  const { folder, facts } = newSession();
  assert.deepEqual(fateOf(folder), { fate: 'alive' });
  assert.deepEqual(readSession(folder), facts);
  assert.deepEqual(readdirSync(folder), ['session.json']);
  assert.equal(statSync(join(folder, 'session.json')).mode & 0o777, 0o600);
  assert.ok(listSessions(dir).includes(folder));
  assert.match(facts.process.startTicks ?? '', /^\d+$/);
});

test('who said goodbye has ended, though it runs still', () => {
  const { folder, facts } = newSession();
  endSession(folder, facts, { exitCode: 0, bundle: 'b' });
  assert.deepEqual(fateOf(folder), { fate: 'ended' });
  assert.equal(readSession(folder).bundle, 'b');
});

test('a killed process has died, reaped or not', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const { folder } = newSession(() => {}, child.pid);
  assert.deepEqual(fateOf(folder), { fate: 'alive' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(fateOf(folder), { fate: 'died' });
});

test('its pid with another start time is another process', () => {
  const { folder } = newSession((facts) => {
    facts.process.startTicks = '1';
  });
  assert.deepEqual(fateOf(folder), { fate: 'died', pidReused: true });
});

test('another boot of this machine is a death by reboot', () => {
  const { folder } = newSession((facts) => {
    facts.process.bootId = 'another';
  });
  assert.deepEqual(fateOf(folder), { fate: 'died', rebooted: true });
});

for (const [where, change] of [
  ['another machine', { bootId: 'another', hostname: 'elsewhere' }],
  ['another pid namespace', { pidNamespace: 'pid:[1]' }],
] as const)
  test(`on ${where} only a missed heartbeat is a death`, () => {
    const { folder } = newSession((facts) => {
      Object.assign(facts.process, change);
    });
    const long = new Date(Date.now() - 60_000);
    utimesSync(join(folder, 'session.json'), long, long);
    assert.deepEqual(fateOf(folder), { fate: 'elsewhere' });
    const { folder: beating } = newSession((facts) => {
      Object.assign(facts.process, change);
      facts.heartbeatMs = 1000;
    });
    assert.deepEqual(fateOf(beating), { fate: 'elsewhere' });
    utimesSync(join(beating, 'session.json'), long, long);
    assert.deepEqual(fateOf(beating), { fate: 'died' });
  });

test('what is no session file is a clear error', () => {
  const { folder, facts } = newSession();
  const wrong: unknown[] = [
    '{',
    'null',
    '[]',
    '{}',
    { ...facts, version: 2 },
    { ...facts, id: '../../etc' },
    { ...facts, process: { pid: -1 } },
    { ...facts, process: undefined },
    { ...facts, command: [1] },
    { ...facts, state: 'undead' },
    { ...facts, heartbeatMs: '1' },
    { ...facts, cwd: 'x'.repeat(300_000) },
  ];
  for (const value of wrong) {
    writeFileSync(join(folder, 'session.json'), typeof value === 'string' ? value : JSON.stringify(value));
    assert.throws(
      () => readSession(folder),
      (e) => e instanceof AgentdumpError && e.code === 'malformed-input',
      JSON.stringify(value).slice(0, 80),
    );
  }
});

test('no folder, no sessions', () => assert.deepEqual(listSessions(join(dir, 'nowhere')), []));

test('the memory controller says what a shell reads there', (t) => {
  const folder = findMemoryCgroup();
  if (!folder) return t.skip('no memory controller here');
  const memory = readCgroupMemory(folder);
  const cat = spawnSync('sh', [
    '-c',
    `cat ${folder}/memory.current ${folder}/memory.usage_in_bytes 2>/dev/null`,
  ]);
  const said = Number(cat.stdout.toString().trim());
  assert.ok(memory.currentBytes && Math.abs(memory.currentBytes - said) < 2 ** 30);
  assert.equal(typeof memory.oomKills, 'number');
});
