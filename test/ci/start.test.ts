/** The preload of a test run: its processes start with the compiled code that V8 kept from the first of them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onlyWide } from '../support/run/test-nodes.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const preload = join(root, 'dist', 'register-tests.cjs');

function runIn(folder: string, program: string, dumps = 'dumps') {
  return spawnSync(process.execPath, ['--require', preload, '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], AGENTDUMP_CI: folder, AGENTDUMP_DIR: join(folder, dumps) },
  });
}

function newFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-start-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const codeOf = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('code-'));

test('the first process leaves its code, the next ones take it and say nothing', (context) => {
  const folder = newFolder(context);
  const program = 'console.log(globalThis[Symbol.for("agentdump.host")].tests !== undefined)';
  for (let n = 0; n < 2; n++) {
    const { stdout, stderr, status } = runIn(folder, program);
    assert.deepEqual([stdout, stderr, status], ['true\n', '', 0]);
  }
  const [name = 'none', ...others] = codeOf(folder);
  assert.deepEqual(others, []);
  assert.match(name, new RegExp(`^code-${process.version}-`));
  const { mtimeMs } = statSync(join(folder, name));
  runIn(folder, '');
  assert.equal(statSync(join(folder, name)).mtimeMs, mtimeMs, 'it is written once');
});

test('code that does not fit is not left in part', (context) => {
  const folder = newFolder(context);
  const small = 'ulimit -f 8; exec "$0" --require "$1" -e ""';
  const { stderr, status } = spawnSync('sh', ['-c', small, process.execPath, preload], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], AGENTDUMP_CI: folder, AGENTDUMP_DIR: join(folder, 'dumps') },
  });
  assert.deepEqual([stderr, status], ['', 0]);
  assert.deepEqual(codeOf(folder), []);
});

test('the first death leaves the code that it compiled, and bad code costs no later one its bundle', (context) => {
  const folder = newFolder(context);
  const die = (dumps: string): void => {
    const { stderr, status } = runIn(folder, 'throw new Error("dies")', dumps);
    assert.equal(status, 1, stderr);
    const bundles = readdirSync(join(folder, dumps)).filter((name) => name.endsWith('.agentdump'));
    assert.equal(bundles.length, 1, stderr);
  };
  die('first');
  const halves = codeOf(folder).filter((name) => name.endsWith('_half'));
  assert.deepEqual(halves.map((name) => name.slice(name.lastIndexOf('-') + 1)).sort(), [
    'cold_half',
    'redaction_half',
  ]);
  const written = halves.map((name) => statSync(join(folder, name)).mtimeMs);
  die('second');
  assert.deepEqual(
    halves.map((name) => statSync(join(folder, name)).mtimeMs),
    written,
    'it is written once',
  );
  for (const name of halves)
    writeFileSync(join(folder, name), readFileSync(join(folder, name)).subarray(0, 1000));
  die('cut');
  for (const name of halves) writeFileSync(join(folder, name), 'not code');
  die('foreign');
});

test('of an error that a test handles, everything is written but the report of Node', (context) => {
  const folder = newFolder(context);
  const file = join(folder, 'handles.test.cjs');
  writeFileSync(
    file,
    `const { test } = require('node:test');
    test('handles', (_, done) => {
      process.once('uncaughtException', () => done());
      setImmediate(() => { throw new Error('handled'); });
    });`,
  );
  const dumps = join(folder, 'dumps');
  spawnSync(process.execPath, ['--require', preload, file], {
    env: { PATH: process.env['PATH'], AGENTDUMP_CI: folder, AGENTDUMP_DIR: dumps },
  });
  const [name = 'none'] = readdirSync(dumps).filter((one) => one.endsWith('.agentdump'));
  const { gaps, parts } = JSON.parse(readFileSync(join(dumps, name, 'manifest.json'), 'utf8'));
  assert.deepEqual(gaps, []);
  const written = parts.map((part: { name: string }) => part.name);
  for (const part of ['trigger.json', 'error.json', 'test.json', 'memory.json', 'scripts.json'])
    assert.ok(written.includes(part), `${part} is missing`);
});

test('code that is cut, foreign or empty costs nobody the recorder', { skip: onlyWide }, (context) => {
  const folder = newFolder(context);
  runIn(folder, '');
  const path = join(folder, codeOf(folder)[0] ?? 'none');
  const code = readFileSync(path);
  for (const bad of [code.subarray(0, 1000), Buffer.from('not code'), Buffer.alloc(0)]) {
    writeFileSync(path, bad);
    const dumps = `dumps-${bad.length}`;
    const { stderr, status } = runIn(folder, 'throw new Error("dies")', dumps);
    assert.equal(status, 1, stderr);
    const bundles = readdirSync(join(folder, dumps)).filter((name) => name.endsWith('.agentdump'));
    assert.equal(bundles.length, 1, `${bad.length} bytes: ${stderr}`);
  }
});

test('a program may import in the same process, without a warning', (context) => {
  const { stdout, stderr } = runIn(
    newFolder(context),
    'import("node:path").then(({ sep }) => console.log(sep))',
  );
  assert.deepEqual([stdout, stderr], ['/\n', '']);
});
