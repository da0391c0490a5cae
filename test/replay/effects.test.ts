/** A replay repeats a program's effects outside of the network: each is reported, or stopped before it happens. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ReplayResult } from '../../src/replay/replay.ts';
import { cleanEnvironment, node, runCli } from '../support/agents/recorded-deaths.ts';
import { onlyWide } from '../support/run/test-nodes.ts';
import { preload } from '../support/victims/run-victim.ts';

let dir = '';
let bundle = '';

before(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'agentdump-test-')));
  writeFileSync(join(dir, 'program.mjs'), "throw new Error('the recorded death');\n");
  const env = cleanEnvironment(dir, { AGENTDUMP_DIR: join(dir, 'dumps'), AGENTDUMP_HEAP: 'off' });
  spawnSync(node.path, ['--require', preload, 'program.mjs'], { env, cwd: dir });
  const [name = assert.fail('no bundle')] = readdirSync(join(dir, 'dumps')).filter((one) =>
    one.endsWith('.agentdump'),
  );
  bundle = join(dir, 'dumps', name);
});
after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

async function replay(program: string, words: string[] = []) {
  writeFileSync(join(dir, 'program.mjs'), program);
  const run = await runCli(['replay', bundle, '--json', ...words, '--', node.path, 'program.mjs'], dir);
  return { ...run, result: JSON.parse(run.stdout || assert.fail(run.stderr)) as ReplayResult };
}

const shown = ({ effects }: ReplayResult) =>
  effects.map(({ kind, action, name, place, count }) => [
    kind,
    action,
    name,
    place?.replace(/:\d+$/, ''),
    count,
  ]);

const changesFiles = `import * as fs from 'node:fs';
import { appendFile, open } from 'node:fs/promises';
for (let n = 0; n < 3; n++) fs.appendFileSync('log.txt', 'line\\n');
await appendFile('log.txt', 'line');
fs.closeSync(fs.openSync('log.txt', 'r'));
await (await open('log.txt')).close();
fs.createWriteStream('stream.txt').end('text');
fs.renameSync('log.txt', 'other.txt');
fs.writeFileSync('/dev/null', 'text');
await new Promise((done) => fs.writeFile('other.txt', 'text', done));
throw new Error('the recorded death');
`;

test('changes of files are reported with place and number, and readings are not', async () => {
  const { result, stderr } = await replay(changesFiles);
  assert.deepEqual(shown(result), [
    ['files', 'appendFile', 'log.txt', 'program.mjs:3', 3],
    ['files', 'appendFile', 'log.txt', 'program.mjs:4', 1],
    ['files', 'createWriteStream', 'stream.txt', 'program.mjs:7', 1],
    ['files', 'rename', 'other.txt', 'program.mjs:8', 1],
    ['files', 'writeFile', 'other.txt', 'program.mjs:10', 1],
  ]);
  assert.match(stderr, /the replay had effects again: 7 changes of files \(--hold files stops before them\)/);
});

const changesFolders = `import fs, { promises } from 'node:fs';
import { promisify } from 'node:util';
fs.mkdirSync('from/inner', { recursive: true });
fs.writeFileSync('from/inner/file', 'text');
await promises.cp('from', 'copy', { recursive: true });
await promisify(fs.cp)('from', 'other', { recursive: true });
fs.cpSync('from', 'third', { recursive: true });
await promises.rm('from', { recursive: true });
await promisify(fs.rm)('copy', { recursive: true });
fs.rmSync('other', { recursive: true });
throw new Error('the recorded death');
`;

test('removing and copying a folder is one change, whatever Node does for it', async () => {
  const { result } = await replay(changesFolders);
  const changes = shown(result).map(([, action, name, , count]) => [action, name, count]);
  assert.deepEqual(changes, [
    ['mkdir', 'from/inner', 1],
    ['writeFile', 'from/inner/file', 1],
    ['cp', 'copy', 1],
    ['cp', 'other', 1],
    ['cp', 'third', 1],
    ['rm', 'from', 1],
    ['rm', 'copy', 1],
    ['rm', 'other', 1],
  ]);
});

test('a program without effects is not warned of', { skip: onlyWide }, async () => {
  const { result, stderr } = await replay("throw new Error('the recorded death');\n");
  assert.deepEqual(result.effects, []);
  assert.doesNotMatch(stderr, /had effects/);
});

const server = `process.stdin.on('data', (data) => {
  for (const line of String(data).trim().split('\\\\n')) {
    const { id } = JSON.parse(line);
    if (id) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }) + '\\\\n');
  }
});`;

const startsChildren = `import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
execFileSync(process.execPath, ['-e', "require('node:fs').mkdirSync('made', { recursive: true })"]);
const child = spawn(process.execPath, ['-e', \`${server}\`], { stdio: ['pipe', 'pipe', 'inherit'] });
const send = (id, method, params) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n');
send(1, 'initialize', {});
await once(child.stdout, 'data');
for (let id = 2; id < 4; id++) {
  send(id, 'tools/call', { name: 'send_mail', arguments: {} });
  await once(child.stdout, 'data');
}
child.kill();
`;

test('child processes, what they do, and the tools of an MCP server are reported', async () => {
  const { result } = await replay(startsChildren);
  const effects = shown(result);
  const withoutNames = effects.map(([kind, action, name, , count]) => [
    kind,
    action,
    kind === 'commands' ? '' : name,
    count,
  ]);
  assert.deepEqual(withoutNames, [
    ['commands', 'execFileSync', '', 1],
    ['files', 'mkdir', 'made', 1],
    ['commands', 'spawn', '', 1],
    ['mcp', 'tools/call', 'send_mail', 2],
  ]);
  assert.equal(result.outcome, 'none');
});

for (const [kind, program, made] of [
  ['files', `import { mkdirSync } from 'node:fs';\nmkdirSync('held');\n`, 'held'],
  [
    'files',
    `import { spawnSync } from 'node:child_process';
spawnSync(process.execPath, ['-e', "require('node:fs').mkdirSync('held')"]);
require('node:fs').mkdirSync('later');`,
    'held',
  ],
  ['commands', `import { execSync } from 'node:child_process';\nexecSync('mkdir held');\n`, 'held'],
  ['commands', `import { spawn } from 'node:child_process';\nspawn('mkdir', ['held']);\n`, 'held'],
] as const)
  test(`held back: ${kind} by ${program.split('\n').at(1)}`, { skip: onlyWide }, async () => {
    const { result, code } = await replay(program, ['--hold', kind]);
    assert.equal(result.outcome, 'held');
    assert.match(
      result.refused.join('\n'),
      new RegExp(`was stopped before it happened \\(--hold ${kind}\\)$`),
    );
    assert.equal(existsSync(join(dir, made)), false);
    assert.equal(code, 1);
  });

test('an MCP tool is held back, and its server is started', async () => {
  const { result } = await replay(startsChildren, ['--hold', 'mcp']);
  assert.equal(result.outcome, 'held');
  const sentence =
    /^tools\/call send_mail at program\.mjs:10:\d+ was stopped before it happened \(--hold mcp\)$/;
  assert.match(result.refused.join('\n'), sentence);
  assert.equal(result.effects.filter(({ kind, count }) => kind === 'mcp' && count === 1).length, 1);
});
