/** `agentdump replay` and `bisect` as a user sees them: a small agent that dies in its tool, in a repository of its own. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startMockModelServer } from '../support/agents/mock-model-server.ts';
import { cleanEnvironment, runCli } from '../support/agents/recorded-deaths.ts';
import { onlyWide } from '../support/run/test-nodes.ts';
import { preload } from '../support/victims/run-victim.ts';

const here = dirname(fileURLToPath(import.meta.url));
const faulty = readFileSync(join(here, 'agent.mjs'), 'utf8');
/** Handles the unknown city, so that the agent asks the model again. */
const fixed = faulty.replace('cities[city].degrees', "cities[city]?.degrees ?? 'unknown'");
const otherDeath = faulty.replace('return `', "throw new RangeError('no such city'); return `");
let dir = '';
let bundle = '';

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  writeFileSync(join(dir, 'agent.mjs'), faulty);
  const cities = ['Oslo', 'Atlantis'];
  const server = await startMockModelServer((_call, n) => ({
    toolCalls: [{ name: 'get_weather', arguments: { city: cities[n] ?? 'Oslo' } }],
  }));
  const env = cleanEnvironment(dir, { MODEL_URL: server.url, MODEL_API_KEY: 'sk-live-4f9a8b7c6d5e4f3a2b1c' });
  await once(
    spawn(process.execPath, ['--require', preload, 'agent.mjs'], { cwd: dir, env, stdio: 'ignore' }),
    'exit',
  );
  await server.close();
  const [name = assert.fail('no bundle')] = readdirSync(join(dir, 'dumps')).filter((one) =>
    one.endsWith('.agentdump'),
  );
  bundle = join(dir, 'dumps', name);
});

after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));

const agent = ['--', process.execPath, 'agent.mjs'];
async function replayWith(program: string, words: string[] = [], env: Record<string, string> = {}) {
  writeFileSync(join(dir, 'agent.mjs'), program);
  return runCli(['replay', bundle, ...words, ...agent], dir, env);
}

test('the death is reproduced without server, address or key', async () => {
  const { code, stdout, stderr } = await replayWith(faulty, ['--expect', 'same']);
  assert.match(stdout, /^REPRODUCED: the same death/, stderr);
  assert.match(stdout, /answered +2 of 2 recorded model calls/);
  // The replay's own bundle has been removed by then.
  assert.match(stderr, /^agentdump: uncaught-exception \(\d+ ms\)$/m);
  assert.doesNotMatch(stderr, /read it with|agentdump-replay-/);
  assert.equal(code, 0);
});

test('a fixed program goes past the death', { skip: onlyWide }, async () => {
  const { code, stdout } = await replayWith(fixed, ['--expect', 'fixed']);
  assert.match(stdout, /^NO DEATH: it went on past the point where it died/);
  assert.equal(code, 0);
  assert.equal((await replayWith(fixed, ['--expect', 'same'])).code, 1);
  assert.equal((await replayWith(faulty, ['--expect', 'fixed'])).code, 1);
});

test('another death is told apart', { skip: onlyWide }, async () => {
  const { code, stdout } = await replayWith(otherDeath, ['--expect', 'fixed']);
  assert.match(stdout, /^ANOTHER DEATH: .*no such city/);
  assert.match(stdout, /\n +- error:TypeError\n[\s\S]*\n +\+ error:RangeError\n/);
  assert.equal(code, 1);
});

test('a request that differs is shown, and stops or is answered', { skip: onlyWide }, async () => {
  const env = { AGENT_PROMPT: 'How is Bergen?' };
  const stopped = await replayWith(faulty, [], env);
  assert.match(stopped.stdout, /^DIVERGED/);
  assert.match(stopped.stdout, /messages\[0\]\n +- .*How is Oslo\?.*\n +\+ .*How is Bergen\?/);
  assert.equal(stopped.code, 1);
  const answered = await replayWith(faulty, ['--on-mismatch', 'answer'], env);
  assert.match(answered.stdout, /^REPRODUCED/);
});

test('a request that differs only in what a mask names is the recorded one, in a saved test too', {
  skip: onlyWide,
}, async () => {
  const env = { AGENT_PROMPT: 'How is Bergen?' };
  const mask = ['--mask', '/How is (\\w+)/', 'time'];
  const { stdout, code } = await replayWith(faulty, mask, env);
  assert.match(stdout, /^REPRODUCED[\s\S]*answered +2 of 2/);
  assert.equal(code, 0);
  const other = await replayWith(faulty, mask, { AGENT_PROMPT: 'Where is Bergen?' });
  assert.match(other.stdout, /^DIVERGED/);
  const invalid = await replayWith(faulty, ['--mask', 'never'], env);
  assert.match(invalid.stderr, /the mask never is not valid: expected time, id or \/pattern\//);
  assert.equal(invalid.code, 2);
  const saved = await replayWith(faulty, ['--save-test', join(dir, 'masked'), ...mask]);
  const [testFile = ''] = saved.stdout.trim().split('\n');
  assert.ok(readFileSync(testFile, 'utf8').includes("masks: ['/How is (\\\\w+)/', 'time'],"));
});

test('a request that differs can go live', { skip: onlyWide }, async (t) => {
  const server = await startMockModelServer(() => ({ text: 'It is raining.' }));
  t.after(() => server.close());
  const env = { AGENT_PROMPT: 'How is Bergen?', MODEL_URL: server.url };
  writeFileSync(join(dir, 'agent.mjs'), faulty);
  // An address other than the recorded one is not redirected to the replayer, so that the request is live anyway.
  const { stdout } = await runCli(['replay', bundle, '--on-mismatch', 'live', ...agent], dir, env);
  assert.match(stdout, /^NO DEATH: it ended well/);
  assert.match(stdout, /answered +0 of 2/);
  assert.equal(server.calls.length, 1);
});

test('a server that is not in the recording stops the replay before anything is sent; --live asks it', {
  skip: onlyWide,
}, async (t) => {
  const asked: string[] = [];
  const hook = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  t.after(() => hook.close().closeAllConnections());
  const address = `127.0.0.1:${(hook.address() as AddressInfo).port}`;
  const told = `await fetch('http://${address}/told');\n${faulty}`;
  const stopped = await replayWith(told);
  assert.match(stopped.stdout, /^DIVERGED/, stopped.stderr);
  assert.match(
    stopped.stdout,
    new RegExp(
      `a connection to ${address} was stopped: it is not in the recording\\. Let it go live with --live`,
    ),
  );
  assert.deepEqual([stopped.code, asked], [1, []]);
  for (const words of [
    ['--live', address],
    ['--live', '127.0.0.1'],
    ['--on-mismatch', 'live'],
  ]) {
    const { stdout, stderr } = await replayWith(told, words);
    assert.match(stdout, /^REPRODUCED/, stderr);
  }
  assert.deepEqual(asked, ['/told', '/told', '/told']);
});

test('--until ends before a call, and a call that is not there is named', { skip: onlyWide }, async () => {
  const { code, stdout, stderr } = await replayWith(faulty, ['--until', 'c2']);
  assert.match(stdout, /^STOPPED/, stderr);
  assert.equal(code, 0);
  const wrong = await replayWith(faulty, ['--until', 'c9']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /no recorded model call is, belongs to, or comes before c9/);
});

const vitest = ['runners', 'langgraph']
  .map((room) => join(here, '..', room, 'node_modules', 'vitest'))
  .find((path) => existsSync(path));
const runners = {
  'node:test': { command: (file: string) => ['--test', file], missing: false },
  vitest: {
    command: (file: string) => [join(vitest ?? '', 'vitest.mjs'), 'run', '--root', dir, file],
    missing: vitest ? false : 'vitest is not installed: npm ci --prefix test/langgraph',
  },
};

for (const [runner, { command, missing }] of Object.entries(runners))
  test(`a saved test for ${runner} has no secret, fails before the fix and passes after it`, {
    skip: onlyWide || missing,
  }, async () => {
    const modules = join(dir, 'node_modules');
    mkdirSync(modules, { recursive: true });
    const packages = { agentdump: join(here, '..', '..'), ...(vitest && { vitest }) };
    for (const [name, path] of Object.entries(packages))
      if (!existsSync(join(modules, name))) symlinkSync(path, join(modules, name));
    const folder = join(dir, runner.replace(':', '-'));
    const { stdout } = await replayWith(faulty, ['--save-test', folder, '--runner', runner]);
    const [testFile = '', recording = ''] = stdout.trim().split('\n');
    assert.match(readFileSync(testFile, 'utf8'), new RegExp(`from '${runner}'`));
    assert.doesNotMatch(readFileSync(recording, 'utf8'), /sk-live/);
    const before = await runTest(command(testFile));
    assert.equal(before.code, 1, before.output);
    assert.match(before.output, /REPRODUCED: the same death/);
    writeFileSync(join(dir, 'agent.mjs'), fixed);
    const after = await runTest(command(testFile));
    assert.equal(after.code, 0, after.output);
  });

async function runTest(words: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, words, { cwd: dir, env: cleanEnvironment(dir) });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

test('a tool of agent.tool is run, or answered from the record when it is chosen', {
  skip: onlyWide,
}, async () => {
  const home = join(dir, 'tools');
  mkdirSync(home);
  writeFileSync(
    join(home, 'tools.mjs'),
    `import { appendFileSync } from 'node:fs';
     import { agent } from 'agentdump';
     const count = (name) => { appendFileSync('log', name + ' '); return { at: name }; };
     const first = agent.tool('look', { x: 1 }, () => count('look'));
     const second = await agent.tool('send', {}, async () => count('send'));
     await agent.tool('die', {}, async () => { throw new Error('died at ' + first.at + ' and ' + second.at); });`,
  );
  const env = cleanEnvironment(home);
  const program = ['--require', preload, 'tools.mjs'];
  await once(spawn(process.execPath, program, { cwd: home, env, stdio: 'ignore' }), 'exit');
  const [name = ''] = readdirSync(join(home, 'dumps')).filter((one) => one.endsWith('.agentdump'));
  const again = (...words: string[]) =>
    runCli(['replay', join(home, 'dumps', name), ...words, '--', process.execPath, 'tools.mjs'], home);
  const log = () => readFileSync(join(home, 'log'), 'utf8').trim().split(' ');
  assert.match((await again('--tool', 'look', '--tool', 'send')).stdout, /^REPRODUCED/);
  assert.deepEqual(log(), ['look', 'send']);
  assert.match((await again('--tool', 'send')).stdout, /^REPRODUCED/);
  assert.deepEqual(log(), ['look', 'send', 'look']);
  const { code, stderr } = await again('--tool', 'fly');
  assert.match(stderr, /the recording has no call of tool fly/);
  assert.equal(code, 2);
});

test('bisect finds the commit that brought the death, and leaves the work tree alone', {
  skip: onlyWide,
}, async () => {
  const repo = join(dir, 'repo');
  mkdirSync(repo);
  cpSync(join(dir, 'agent.mjs'), join(repo, 'agent.mjs'));
  const git = (...words: string[]) => execFileSync('git', words, { cwd: repo, encoding: 'utf8' }).trim();
  git('init', '-q');
  git('config', 'user.email', 'test@example.org');
  git('config', 'user.name', 'Test');
  const commit = (program: string, subject: string) => {
    writeFileSync(join(repo, 'agent.mjs'), program);
    writeFileSync(join(repo, 'notes.txt'), subject);
    git('add', '.');
    git('commit', '-q', '-m', subject);
    return git('rev-parse', 'HEAD');
  };
  const first = commit(fixed, 'Answer for unknown cities');
  for (const word of ['one', 'two', 'three']) commit(`${fixed}\n// ${word}\n`, `Say ${word}`);
  const culprit = commit(faulty, 'Simplify the weather');
  for (const word of ['five', 'six', 'seven', 'eight']) commit(`${faulty}\n// ${word}\n`, `Say ${word}`);
  writeFileSync(join(repo, 'notes.txt'), 'not committed');
  const words = ['bisect', bundle, '--good', first, ...agent];
  const { code, stdout, stderr } = await runCli(words, dir, {}, repo);
  assert.match(stdout, new RegExp(`^${culprit} is the first that dies so\\n +Simplify the weather`), stderr);
  assert.equal(code, 0);
  assert.equal(readFileSync(join(repo, 'notes.txt'), 'utf8'), 'not committed');
  assert.equal(git('worktree', 'list').split('\n').length, 1);
  const wrong = await runCli(['bisect', bundle, '--good', culprit, ...agent], dir, {}, repo);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /said to be good, is not free of the recorded death/);
});
