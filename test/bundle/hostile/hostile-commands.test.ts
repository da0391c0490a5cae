/**
 * What other commands do with untrusted files: `mcp` answers in time and quotes nothing that controls a terminal, `runs` and
 * `status` print names as text, `replay` runs no program that a recording chose, `verify --secrets` terminates.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { writeHostileRuns } from '../../support/hostile/hostile-runs.ts';
import { bin, command, hostile, moving } from '../../support/hostile/stranger.ts';
import { recordingHead } from '../../support/hostile/synth-bundle-hostile-newer.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';

const scratch = mkdtempSync(join(tmpdir(), 'agentdump-stranger-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

function run(words: string[], cwd = scratch) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
    encoding: 'utf8',
    cwd,
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
    timeout: 60_000,
  });
  return { status: status ?? signal, said: stdout + stderr };
}

/** One bundle of each format, under names that the server lists. */
function copyBundles(dumps: string): string[] {
  mkdirSync(dumps, { mode: 0o700 });
  const formats = readdirSync(hostile).filter(
    (name) => !/^(?:README\.md|ci-summary|recording|encrypted)$/.test(name),
  );
  return formats.map((format, n) => {
    const faults = readdirSync(join(hostile, format)).sort();
    const fault = faults.find((name) => /escape|instruction|bomb|nested|lying/.test(name)) ?? faults[0]!;
    const id = (0x10000000 + n).toString(16);
    const packed = fault.endsWith('.zip') ? '.zip' : '';
    const name = `20261122T100000.000Z-agent-uncaught-exception-${id}.agentdump${packed}`;
    cpSync(join(hostile, format, fault), join(dumps, name), { recursive: true, verbatimSymlinks: true });
    return name;
  });
}

test('mcp: every answer about a hostile bundle is JSON, harmless, and there', async () => {
  const dumps = join(scratch, 'dumps');
  const bundles = copyBundles(dumps);
  const child = spawn(process.execPath, [bin, 'mcp', '--dir', dumps], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    const { value, done } = await lines.next();
    assert.ok(!done, 'the server ended');
    return JSON.parse(value) as { error?: unknown; result?: { content?: { text: string }[] } };
  };
  const client = { name: 'test', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  for (const bundle of bundles)
    for (const name of ['analyze', 'stack', 'agent_timeline', 'environment']) {
      const answer = await ask('tools/call', { name, arguments: { bundle } });
      const text = answer.result?.content?.map((part) => part.text).join('\n') ?? '';
      assert.ok(!answer.error && text !== '', `${name} of ${bundle}: ${JSON.stringify(answer.error)}`);
      assert.doesNotMatch(text, moving, `${name} of ${bundle}`);
      assert.doesNotMatch(text, /root:x:0:0/, `${name} of ${bundle}`);
      assert.doesNotMatch(text, /internal error/i, `${name} of ${bundle}`);
    }
  child.stdin.end();
  await once(child, 'close');
});

test('runs: names, steps and damaged files of a stranger are text', { skip: onlyWide }, async () => {
  const dir = await writeHostileRuns(join(scratch, 'runs'));
  for (const words of [
    ['runs', '--dir', dir],
    ['runs', '--json', '--dir', dir],
  ]) {
    const { status, said } = run(words);
    assert.ok(status === 0 || status === 3, `${status}: ${said}`);
    assert.match(said, /trip-1/);
    assert.doesNotMatch(said, moving);
    assert.doesNotMatch(said, command);
  }
});

test('status: sessions and ledgers of a stranger are text', () => {
  const dir = join(scratch, 'status');
  const evil = '\x1b[2J\u202e\n::set-output name=x::y';
  const facts = {
    schema: 'agentdump.session',
    version: 1,
    program: evil,
    startedAt: evil,
    state: 'alive',
    process: { pid: 4_000_000, parentPid: 1, hostname: evil, bootId: evil },
    argv: [evil],
    cwd: '/',
    limits: {},
  };
  const sessions: Record<string, string> = {
    'a-1': JSON.stringify(facts),
    'b-2': '{"schema":"agentdump.session","version":1,"process":',
    'c-3': '['.repeat(100_000),
    'd-4': JSON.stringify({ ...facts, process: null, program: { toString: 1 } }),
  };
  for (const [name, text] of Object.entries(sessions)) {
    mkdirSync(join(dir, 'sessions', name), { recursive: true });
    writeFileSync(join(dir, 'sessions', name, 'session.json'), text);
  }
  mkdirSync(join(dir, 'supervisors'), { recursive: true });
  writeFileSync(
    join(dir, 'supervisors', 'x.log'),
    `${JSON.stringify({ event: 'supervise', program: evil })}\n`,
  );
  for (const words of [['status'], ['status', '--json'], ['list']]) {
    const { status, said } = run([...words, '--dir', dir]);
    assert.ok(status === 0 || status === 1 || status === 3, `${words}: ${status}: ${said}`);
    assert.doesNotMatch(said, moving, words.join(' '));
    assert.doesNotMatch(said, command, words.join(' '));
  }
});

const recordingOf = (changes: object): string =>
  JSON.stringify({ ...recordingHead, title: "it's over'); require('fs')\n//", ...changes });

test('replay runs no program that is not of this project, whatever the recording says', {
  skip: onlyWide,
}, () => {
  const folder = join(scratch, 'project');
  mkdirSync(join(folder, 'node_modules', 'tool'), { recursive: true });
  const proof = join(folder, 'proof');
  const writesProof = `require('fs').writeFileSync(${JSON.stringify(proof)}, '')`;
  writeFileSync(join(scratch, 'outside.js'), writesProof);
  writeFileSync(join(folder, 'node_modules', 'tool', 'cli.js'), writesProof);
  const recording = join(folder, 'crash.recording.json');
  for (const script of [
    '../outside.js',
    'node_modules/tool/cli.js',
    '/bin/sh',
    '-e',
    '--require',
    'absent.js',
  ]) {
    writeFileSync(recording, recordingOf({ argv: ['node', script, writesProof] }));
    const { status, said } = run(['replay', recording], folder);
    assert.equal(status, 2, `${script}: ${said}`);
    assert.equal(existsSync(proof), false, script);
  }
});

test('a saved test has a plain name below its folder, and its title is a text', { skip: onlyWide }, () => {
  const folder = join(scratch, 'saved');
  mkdirSync(folder);
  const recording = join(folder, 'crash.recording.json');
  for (const id of ['../../../etc/x', '/abs/olute', 'a\0b', "'+x+'"]) {
    writeFileSync(recording, recordingOf({ signature: { id, version: 1, parts: [] } }));
    const { status, said } = run(
      ['replay', recording, '--save-test', 'tests', '--', 'node', 'agent.js'],
      folder,
    );
    if (status !== 0) {
      assert.ok(status === 2 || status === 3, `${id}: ${status} ${said}`);
      continue;
    }
    const made = readdirSync(join(folder, 'tests'));
    assert.ok(
      made.every((name) => /^crash-\w{0,8}\.(?:test\.mjs|recording\.json)$/.test(name)),
      made.join(),
    );
    for (const name of made.filter((one) => one.endsWith('.mjs'))) {
      const checked = spawnSync(process.execPath, ['--check', join(folder, 'tests', name)]);
      assert.equal(checked.status, 0, String(checked.stderr));
      assert.doesNotMatch(readFileSync(join(folder, 'tests', name), 'utf8'), /^\/\/'/m);
    }
    rmSync(join(folder, 'tests'), { recursive: true });
  }
});

test('verify --secrets ends with a verdict on what unpacks to much, and names what it did not search', {
  skip: onlyWide,
}, () => {
  const bundle = join(hostile, 'heapsnapshot');
  for (const fault of ['gzip-bomb', 'nested-50000-deep']) {
    const { status, said } = run(['verify', '--secrets', join(bundle, fault)]);
    assert.ok(status === 0 || status === 1 || status === 3, `${fault}: ${status} ${said}`);
    assert.doesNotMatch(said, moving, fault);
  }
});
