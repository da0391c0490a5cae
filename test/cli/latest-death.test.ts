/** A killed program leaves no bundle: asking for the latest death reports it nevertheless. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { preload } from '../support/victims/run-victim.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = join(root, 'bin', 'agentdump.js');
const dumps = mkdtempSync(join(tmpdir(), 'agentdump-latest-'));
after(() => rmSync(dumps, { recursive: true, force: true }));
chmodSync(dumps, 0o700);

const program = `
import { agent } from ${JSON.stringify(join(root, 'dist', 'index.js'))};
await agent.run('cook', {}, async () => {
  agent.note('the pan is hot');
  console.log('ready');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});`;

function analyze() {
  return spawnSync(process.execPath, [bin, 'analyze', 'latest', '--json', '--dir', dumps], {
    encoding: 'utf8',
  });
}

test('a killed program is told of by analyze latest, once, while one that lives is left alone', async () => {
  const start = () =>
    spawn(process.execPath, ['--require', preload, '--input-type=module', '-e', program], {
      env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dumps },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const [killed, alive] = [start(), start()];
  await Promise.all([once(killed.stdout, 'data'), once(alive.stdout, 'data')]);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const { stdout, stderr } = analyze();
  assert.match(stderr, /^agentdump: found a death that nobody had seen: .*\.agentdump$/m);
  const account = JSON.parse(stdout);
  assert.equal(account.verdict.kind, 'killed');
  assert.equal(account.process.pid, killed.pid);
  assert.equal(account.agent.runs[0].name, 'cook');
  const again = analyze();
  assert.doesNotMatch(again.stderr, /found a death/);
  assert.equal(JSON.parse(again.stdout).process.pid, killed.pid);
  assert.equal(readdirSync(dumps).filter((name) => name.endsWith('.agentdump')).length, 1);
  assert.equal(alive.exitCode, null);
  alive.kill('SIGKILL');
  await once(alive, 'exit');
});
