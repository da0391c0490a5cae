/** Node processes that a supervised command starts without the recorder are found, and reported in one line. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { platform } from '../../../src/platform/index.ts';
import { UnrecordedWatch } from '../../../src/supervise/run/unrecorded.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const agentdump = fileURLToPath(new URL('../../../bin/agentdump.js', import.meta.url));
const node = process.execPath;
const isShown = { skip: platform.hasProcessFiles ? false : 'no process files here' };

/** Lives until its standard input ends. */
function waiter(t: TestContext): string {
  const path = join(temporaryFolder(t), 'waits.cjs');
  writeFileSync(path, "process.stdout.write('up'); process.stdin.resume().on('end', () => process.exit(0));");
  return path;
}

const lost: [name: string, line: (script: string) => string][] = [
  ['replaced by a script', (script) => `NODE_OPTIONS=--no-warnings "${node}" "${script}"; true`],
  ['started with an empty environment', (script) => `env -i "${node}" "${script}"; true`],
  [
    'a grandchild of a Node that has it',
    (script) =>
      `"${node}" -e 'require("child_process").spawnSync(process.execPath, ["${script}"], { stdio: "inherit", env: {} })'; true`,
  ],
];
for (const [name, line] of lost)
  test(`lost: ${name}`, isShown, async (t) => {
    const script = waiter(t);
    const env = {
      PATH: process.env['PATH'],
      NODE_OPTIONS: `--require ${preload}`,
      AGENTDUMP_DIR: temporaryFolder(t),
    };
    const child = spawn('/bin/sh', ['-c', line(script)], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    t.after(() => child.stdin.end());
    const found = await new Promise((done) => {
      const watch = new UnrecordedWatch(child.pid ?? 0, done);
      t.after(() => watch.close());
      // The watch alone does not keep the process alive.
      const alive = setInterval(() => {}, 1000);
      t.after(() => clearInterval(alive));
    });
    assert.equal(found, 'node waits.cjs');
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });

test('one that was seen between fork and exec is looked at again', isShown, (t) => {
  const recorded = `A=1\0NODE_OPTIONS=--require ${preload}\0`;
  let child = { cmdline: 'node\0parent.cjs\0', environ: recorded };
  const files = (pid: number | string, name: string): string | undefined => {
    if (name.endsWith('/children')) return pid === 10 ? '11 ' : '';
    if (pid === 10) return name === 'cmdline' ? 'node\0parent.cjs\0' : recorded;
    return name === 'cmdline' ? child.cmdline : child.environ;
  };
  t.mock.method(platform, 'processLink', () => '/usr/bin/node');
  t.mock.method(platform, 'processFolder', () => ['1']);
  t.mock.method(platform, 'processFile', files);
  const watch = new UnrecordedWatch(10);
  t.after(() => watch.close());
  watch.look();
  assert.deepEqual(watch.names, []);
  child = { cmdline: 'node\0lost.cjs\0', environ: 'A=1\0' };
  watch.look();
  watch.look();
  assert.deepEqual(watch.names, ['node lost.cjs']);
});

test(
  'one that has the recorder, one that has it switched off, and our own command line are none',
  isShown,
  async (t) => {
    // It reads no input, because a shell gives none to background jobs.
    const script = join(temporaryFolder(t), 'stays.cjs');
    writeFileSync(script, "process.stdout.write('up'); setInterval(() => {}, 1000);");
    const options = `NODE_OPTIONS="--require ${preload}"`;
    const line = `${options} "${node}" "${script}" & AGENTDUMP=off "${node}" "${script}" & "${node}" --require "${preload}" "${script}" & wait`;
    const child = spawn('/bin/sh', ['-c', line], {
      detached: true,
      env: { AGENTDUMP_DIR: temporaryFolder(t) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => process.kill(-(child.pid ?? 0), 'SIGKILL'));
    const watch = new UnrecordedWatch(child.pid ?? 0);
    t.after(() => watch.close());
    let up = '';
    for await (const chunk of child.stdout) {
      up += chunk;
      if (up.length >= 6) break;
    }
    watch.look();
    assert.deepEqual(watch.names, []);
    assert.equal(up, 'upupup');
  },
);

test('run says it while the program runs, once', isShown, async (t) => {
  const dir = temporaryFolder(t);
  const words = ['run', '--', '/bin/sh', '-c', `NODE_OPTIONS= "${node}" "${waiter(t)}"; true`];
  const child = spawn(node, [agentdump, ...words], { cwd: dir, stdio: ['pipe', 'ignore', 'pipe'] });
  let stderr = '';
  for await (const chunk of child.stderr) {
    stderr += chunk;
    if (stderr.includes('\n')) child.stdin.end();
  }
  if (child.exitCode === null) await once(child, 'exit');
  assert.match(stderr, /^agentdump: a Node process ran without the recorder \(node waits\.cjs\): .*\n$/);
});

test('ci says it at the end and in its report, however short the process lived', (t) => {
  const dir = temporaryFolder(t);
  const words = ['ci', '--', 'env', '-i', node, '-e', 'process.exit(3)'];
  const { status, stderr } = spawnSync(node, [agentdump, ...words], { cwd: dir, encoding: 'utf8' });
  assert.equal(status, 3);
  const said = /no process of the run loaded the recorder|ran without the recorder/;
  assert.match(stderr, said);
  assert.match(readFileSync(join(dir, 'agentdump-report', 'summary.json'), 'utf8'), said);
});

test('ci says nothing of a run that had it', (t) => {
  const dir = temporaryFolder(t);
  const { status, stderr } = spawnSync(node, [agentdump, 'ci', '--', node, '-e', '1'], {
    cwd: dir,
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  assert.equal(stderr, '');
});
