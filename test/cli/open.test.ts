/**
 * `agentdump open` as a shell sees it: it prints the address first, answers, survives the end of stdin, and ends with Ctrl-C.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-open-'));
after(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, 'dumps'), { mode: 0o700 });
writeBundle(
  join(root, 'dumps', '20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump'),
  synthParts({}),
);
const env = { PATH: process.env['PATH'], NO_COLOR: '1' };

test('prints the address, serves, outlives stdin, and ends with the signal of Ctrl-C', async () => {
  const child = spawn(process.execPath, [bin, 'open', '--no-browser', '--dir', 'dumps'], {
    cwd: root,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end();
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
  const list = await fetch(url);
  assert.equal(list.status, 200);
  assert.match(await list.text(), /agent-uncaught-exception-00112233/);
  const program = await fetch(`${url}workbench.js`);
  assert.match(await program.text(), /Copyright.*preact/is);
  assert.equal((await fetch(new URL('/', url))).status, 404);
  // Starts a job that is still running when the signal arrives.
  await fetch(`${url}items/20261120T030405.678Z-agent-uncaught-exception-00112233.agentdump`);
  child.kill('SIGINT');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a process is captured, goes on, and is shown', async (t) => {
  const victim = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], {
    cwd: root,
    env: { PATH: env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => victim.kill('SIGKILL'));
  await once(victim.stdout, 'data');
  const child = spawn(process.execPath, [bin, 'open', '--no-browser', String(victim.pid), '--dir', 'live'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  const shown = await fetch(url);
  assert.match(await shown.text(), new RegExp(`-snapshot-[0-9a-f]{8}|"pid":${victim.pid}`));
  assert.equal(victim.exitCode ?? victim.signalCode, null);
});

test('wrong words are 2, what is not there is 3', () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [bin, 'open', '--no-browser', ...words], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
  const port = run('--port', 'x', '--dir', 'dumps');
  assert.deepEqual([port.status, port.stdout], [2, '']);
  assert.match(port.stderr, /--port takes a number/);
  const nowhere = run('nowhere.agentdump', '--dir', 'dumps');
  assert.deepEqual([nowhere.status, nowhere.stdout], [3, '']);
  assert.equal(run('--dir', 'nowhere').status, 3);
});

test('a number that is a process and the start of a bundle is refused in words', (t) => {
  const shortId = String(process.pid).padEnd(8, '0').slice(0, 8);
  const bundle = join(root, 'dumps', `20261120T030405.678Z-agent-uncaught-exception-${shortId}.agentdump`);
  writeBundle(bundle, synthParts({}));
  t.after(() => rmSync(bundle, { recursive: true }));
  const { status, stderr } = spawnSync(
    process.execPath,
    [bin, 'open', '--no-browser', String(process.pid), '--dir', 'dumps'],
    { cwd: root, env, encoding: 'utf8' },
  );
  // A pid of fewer than four digits can't be the start of an id.
  if (process.pid < 1000) return;
  assert.equal(status, 2);
  assert.match(stderr, /is a process, and the start of a bundle's id/);
});
