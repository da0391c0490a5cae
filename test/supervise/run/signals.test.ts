/**
 * The program gets each signal once, whoever sent it, and whether its sender signalled the whole group or only the
 * supervisor.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleOf } from '../../support/run/test-nodes.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'agentdump-signals-'));
after(() => rmSync(dir, { recursive: true }));

/** Counts each signal, and prints the counts at each one. */
const counting = `const seen = {};
  for (const name of ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP', 'SIGUSR2'])
    process.on(name, () => { seen[name] = (seen[name] ?? 0) + 1; console.log('counts ' + JSON.stringify(seen)); });
  setInterval(() => {}, 1000); console.log('ready ' + process.pid + '.');`;
const words = [agentdump, 'run', '--dir', join(dir, 'dumps'), '--', process.execPath, '-e', counting];
const env = {
  ...process.env,
  NODE_OPTIONS: '',
  NO_COLOR: '1',
  AGENTDUMP_SIGNALS: 'off',
  AGENTDUMP_SNAPSHOT_SIGNAL: 'off',
};

async function until(child: ChildProcess, text: RegExp, read: () => string): Promise<void> {
  while (!text.test(read())) await once(child.stdout!, 'data');
}

const pause = () => new Promise((done) => setTimeout(done, 400));

for (const name of sampleOf(['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP', 'SIGUSR2'] as const, 3))
  for (const target of ['group', 'supervisor'] as const)
    test(`${name} to the ${target}: the program gets it once`, async () => {
      const child = spawn(process.execPath, words, {
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk;
      });
      try {
        await until(child, /ready \d+\./, () => out);
        await pause();
        for (let time = 1; time <= 2; time++) {
          process.kill(target === 'group' ? -child.pid! : child.pid!, name);
          await until(child, new RegExp(`"${name}":${time}`), () => out);
          await pause();
          assert.deepEqual(out.match(/counts.*/g)?.at(-1), `counts {"${name}":${time}}`);
        }
      } finally {
        process.kill(-child.pid!, 'SIGKILL');
      }
    });

const hasScript = spawnSync('script', ['--version']).status === 0;

test('Ctrl-C at a terminal: once', { skip: !hasScript && 'no script(1)' }, async () => {
  const quoted = [process.execPath, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qec', quoted, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  await until(child, /ready \d+\./, () => out);
  await pause();
  child.stdin.write('\x03');
  await until(child, /counts/, () => out);
  await pause();
  assert.deepEqual(out.match(/counts.*\}/g), ['counts {"SIGINT":1}']);
  // Its supervisor ends with it, and so does the terminal.
  process.kill(Number(/ready (\d+)/.exec(out)?.[1]), 'SIGKILL');
  await once(child, 'close');
});
