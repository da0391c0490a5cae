/**
 * Runs the command lines of README.md and docs/*.md in a shell, unchanged, in a folder in which a program has died. Lines
 * that need more than that (a core, an agent's recorded replies, a durable run) are run by the tests that are named here.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
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
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { sampleOf } from '../support/run/test-nodes.ts';
import { synthProgram } from '../support/synth/synth-heapsnapshot.ts';
import { guides, shellLines } from '../support/system/guides.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lines that other tests run with the inputs that they need. */
const ranElsewhere: readonly [line: RegExp, testFile: string, words: string][] = [
  [/\bcore\.4173\b|\bcrash\.core\.gz$/, 'test/cli/core.test.ts', "'core'"],
  [/^agentdump replay\b|^node --test$/, 'test/replay/replay.test.ts', "'replay'"],
  [/^agentdump bisect\b/, 'test/replay/replay.test.ts', "'bisect'"],
  [/^agentdump mcp$/, 'test/cli/mcp/mcp.test.ts', "'mcp'"],
  [/^agentdump open$/, 'test/cli/open.test.ts', "'open'"],
  [/^agentdump doctor$/, 'test/supervise/doctor/doctor.test.ts', "'doctor'"],
  [/^agentdump ci --hang-after\b/, 'test/support/runners/runner-matrix.ts', "'ci'"],
  [/\bagentdump-report\/bundles\//, 'test/support/runners/runner-matrix.ts', "'ci'"],
  [/ langgraph\.mjs /, 'test/agent/integrations/integrations.wide.test.ts', 'langgraph'],
  [/ s3:\/\//, 'test/store/s3.wide.test.ts', 's3://'],
  [/^agentdump serve --store\b/, 'test/cli/serve.wide.test.ts', "'serve'"],
  [/^AGENTDUMP_STORE=https:/, 'test/cli/serve.wide.test.ts', 'AGENTDUMP_STORE_TOKEN'],
  [/ --health-url /, 'test/supervise/health/run-health.test.ts', '--health-url'],
  ...['approve', 'reject', 'resume', 'rollback', 'enqueue', 'signal', 'cancel'].map(
    (name): [RegExp, string, string] => [
      new RegExp(`^agentdump ${name}\\b`),
      'test/cli/runs.test.ts',
      `'${name}'`,
    ],
  ),
  [/^agentdump runs trip-7$/, 'test/cli/runs.test.ts', "'runs', 'b1'"],
  [/^agentdump run --restart\b/, 'test/supervise/run/run.test.ts', "'--restart'"],
  [
    /^agentdump run -- node --max-old-space-size/,
    'test/supervise/native/run-full-heap.test.ts',
    '--max-old-space-size',
  ],
  [/^agentdump run --resume\b/, 'test/cli/runs.test.ts', "'resume'"],
];

/** Starts one of our programs that dies, as the documents start it. */
const dies = /(?:^| )node /;

const folder = mkdtempSync(join(tmpdir(), 'agentdump-documented-'));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function shell(line: string) {
  const environment = Object.entries(process.env).filter(([name]) => !/^(AGENTDUMP|NODE_)/.test(name));
  const paths = [join(folder, 'node_modules', '.bin'), dirname(process.execPath), process.env['PATH']];
  const env = { ...Object.fromEntries(environment), PATH: paths.join(delimiter) };
  return spawnSync('sh', ['-c', line], { cwd: folder, env, encoding: 'utf8' });
}

const agent = `import { agent } from 'agentdump';
await agent.run('trip', { id: 'trip-1' }, async () => {
  agent.state.set('budget', 100);
  await agent.step('search', async () => {});
  await agent.step('book', async () => {
    agent.state.patch([{ op: 'replace', path: '/budget', value: -30 }]);
    throw new TypeError('no room is left');
  });
});
`;

/**
 * Creates a folder with the package, two programs that have died, and files with the names that the documents use. Returns a
 * function that adapts a documented line to it.
 */
async function setUp(): Promise<(line: string) => string> {
  const bin = join(folder, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(root, join(folder, 'node_modules', 'agentdump'), 'dir');
  symlinkSync(join(root, 'bin', 'agentdump.js'), join(bin, 'agentdump'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'app.js'), agent);
  writeFileSync(join(folder, 'server.js'), 'setTimeout(() => { throw new Error("closed"); }, 1);');
  const { snapshot, global } = synthProgram();
  writeFileSync(join(folder, 'early.heapsnapshot'), snapshot.toBuffer());
  snapshot.edge(global, snapshot.node({ name: 'Session', size: 2_000_000 }), 'session');
  for (const name of ['late', 'app'])
    writeFileSync(join(folder, `${name}.heapsnapshot`), snapshot.toBuffer());
  const identity = await generateX25519Identity();
  writeFileSync(join(folder, 'key.txt'), identity);
  const recipient = await identityToRecipient(identity);

  const dumps = join(folder, '.agentdump');
  const idOf = (name: string): string => /-([0-9a-f]{8})\.agentdump$/.exec(name)?.[1] ?? '';
  for (const line of [
    'node --require agentdump/register server.js',
    'agentdump ci -- node --require agentdump/register server.js',
    'node --require agentdump/register app.js',
  ])
    assert.equal(shell(line).status, 1, line);
  cpSync(dumps, join(folder, 'yesterday'), { recursive: true });
  cpSync(join(folder, 'agentdump-report'), join(folder, 'last-green'), { recursive: true });
  const [first = '', second = ''] = readdirSync(dumps).map(idOf).filter(Boolean);
  const head: string = JSON.parse(shell('agentdump verify latest --json').stdout).ledger.head;
  const waits = 'setInterval(() => {}, 1000); console.log("ready")';
  const waiting = spawn(process.execPath, ['-e', waits], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(waiting);
  await once(waiting.stdout, 'data');
  return (line) =>
    line
      .replace('/var/crash/agentdump', './crash')
      .replaceAll('/srv/agentdump', './store')
      .replace('83716c4a 897da489', `${first} ${second}`)
      .replace('age1…', recipient)
      // Into a folder of its own, because the rest of the page expects the newest bundle not to be encrypted.
      .replace(/^AGENTDUMP_RECIPIENT=/, 'AGENTDUMP_DIR=./locked $&')
      .replace('latest --identity', 'latest --dir ./locked --identity')
      .replace('<pid>', String(waiting.pid))
      .replace(/8:[0-9a-f]{64}/, head)
      .replace(/ \| jq .*/, '');
}

/** The shell lines of a page, without comments. */
const linesOf = (file: string): string[] =>
  shellLines(readFileSync(file, 'utf8'))
    // A table of `status` begins with a program's name.
    .filter((line) => !/^node {2}/.test(line))
    .map((line) => line.replace(/ +#.*$/, '').replace(/^npx /, ''));

test('the tests that run the other command lines are there', () => {
  for (const [line, testFile, words] of ranElsewhere) {
    assert.ok(
      guides.flatMap(linesOf).some((known) => line.test(known)),
      `no document has ${line}`,
    );
    const path = join(root, testFile);
    assert.ok(existsSync(path) && readFileSync(path, 'utf8').includes(words), `${testFile} runs no ${line}`);
  }
});

test('every command line of the documents works', async (t) => {
  const inFolder = await setUp();
  const ran = new Set<string>();
  for (const file of sampleOf(guides, 5))
    await t.test(basename(file), () => {
      for (const line of linesOf(file)) {
        if (ran.has(line) || ranElsewhere.some(([known]) => known.test(line))) continue;
        ran.add(line);
        const { status, stdout, stderr } = shell(inFolder(line));
        assert.equal(status, dies.test(line) ? 1 : 0, `${line}\n${stdout}\n${stderr}`);
        assert.ok(stdout || stderr || line.includes(' --html '), `${line} says nothing`);
      }
    });
  assert.ok(ran.size > 5, `${ran.size} were run`);
});

test('the first command of README.md: the example dies, and its account has no gap', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-example-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const example = join(root, 'fixtures', 'example', 'run.mjs');
  const env = { ...process.env, TMPDIR: folder, NODE_OPTIONS: '' };
  const { status, stdout } = spawnSync(process.execPath, [example], {
    encoding: 'utf8',
    env,
    timeout: 60_000,
  });
  assert.match(stdout, /^✖ TypeError: Cannot read properties of undefined \(reading 'total'\) at /m);
  assert.doesNotMatch(stdout, /^Gaps$/m);
  // `analyze` exits with 1 if there are gaps.
  assert.equal(status, 0, stdout);
});
