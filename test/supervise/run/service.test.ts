/** `agentdump run` as a service (systemd's notification socket) and as process 1 of a container. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeOf, testMajors, usualNode } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-service-'));
after(() => rmSync(dir, { recursive: true }));
const env = { ...process.env, NODE_OPTIONS: '' };

/** A service manager's end of the socket: prints each message on its own line. */
const manager = `use Socket; socket(my $s, PF_UNIX, SOCK_DGRAM, 0); bind($s, sockaddr_un($ARGV[0])); $| = 1;
  print "listening\\n"; while (defined(recv($s, my $m, 4096, 0))) { $m =~ tr/\\n/ /; print "$m\\n"; }`;
const noPerl = spawnSync('perl', ['-e', '1']).status !== 0 && 'no perl here';

test('NOTIFY_SOCKET: ready when well, watched, its status, stopping', { skip: noPerl }, async () => {
  const socket = join(dir, 'notify');
  const receiver = spawn('perl', ['-e', manager, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  let heard = '';
  receiver.stdout.on('data', (chunk: Buffer) => {
    heard += chunk;
  });
  while (!heard.includes('listening')) await once(receiver.stdout, 'data');
  const command = [process.execPath, '-e', 'setInterval(() => {}, 1000)'];
  const child = spawn(process.execPath, [agentdump, 'run', '--dir', join(dir, 'dumps'), '--', ...command], {
    env: { ...env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000', AGENTDUMP_SIGNALS: 'off' },
    stdio: 'ignore',
  });
  while (!/READY=1 STATUS=process \d+ is healthy(?:.|\n)*WATCHDOG=1/.test(heard))
    await once(receiver.stdout, 'data');
  child.kill('SIGTERM');
  while (!heard.includes('STOPPING=1')) await once(receiver.stdout, 'data');
  await once(child, 'exit');
  receiver.kill();
  assert.match(heard, new RegExp(`^listening\nMAINPID=${child.pid}\n`));
});

const unshare = ['-pf', '--mount-proc'];
const noNamespace = spawnSync('unshare', [...unshare, 'true']).status !== 0 && 'no right to a pid namespace';
/**
 * Five grandchildren whose parent ends before them. Prints how many of them are zombies, once that is the wanted number or
 * after a timeout.
 */
const orphaning = `const { readdirSync, readFileSync } = require('node:fs');
  const { spawnSync } = require('node:child_process');
  const wanted = Number(process.argv[1]);
  for (let i = 0; i < 5; i++) spawnSync('sh', ['-c', 'sleep 0.2 & exit 0'], { stdio: 'ignore' });
  const stat = (pid) => { try { return readFileSync('/proc/' + pid + '/stat', 'utf8'); } catch { return ''; } };
  const until = Date.now() + 20_000;
  const look = () => {
    const orphans = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map(stat).filter((line) => line.includes('(sleep)'));
    const zombies = orphans.filter((line) => line.includes(') Z '));
    if ((orphans.length !== wanted || zombies.length !== wanted) && Date.now() < until) return setTimeout(look, 50);
    console.log('zombies ' + zombies.length);
    process.stdin.pipe(process.stdout).on('finish', () => {});
    process.exitCode = 7;
  };
  look();`;

for (const [major, zombies] of testMajors.map((major) => [major, major < 22 ? 5 : 0] as const))
  test(`Node ${major} as process 1: ${zombies === 0 ? 'orphans are reaped' : 'it says that it cannot reap'}`, {
    skip: noNamespace,
  }, () => {
    const node = nodeOf(major);
    const run = [
      node,
      agentdump,
      'run',
      '--dir',
      join(dir, String(major)),
      '--',
      node,
      '-e',
      orphaning,
      String(zombies),
    ];
    const result = spawnSync('unshare', [...unshare, ...run], {
      env: { ...env, AGENTDUMP: 'off' },
      encoding: 'utf8',
      input: 'input',
    });
    assert.equal(result.status, 7, result.stderr);
    assert.equal(result.stdout, `zombies ${zombies}\ninput`);
    assert.equal(result.stderr.includes("can't reap orphans"), zombies > 0);
  });

test('as process 1 it passes a signal on', { skip: noNamespace }, async () => {
  const node = usualNode.path;
  const code =
    "process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('ready')";
  const run = [
    '--kill-child',
    ...unshare,
    node,
    agentdump,
    'run',
    '--dir',
    join(dir, 'signal'),
    '--',
    node,
    '-e',
    code,
  ];
  const child = spawn('unshare', run, {
    env: { ...env, AGENTDUMP: 'off' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
  await new Promise((done) => setTimeout(done, 200));
  process.kill(Number(first), 'SIGTERM');
  const [code9] = await once(child, 'exit');
  assert.equal(code9, 9);
});
