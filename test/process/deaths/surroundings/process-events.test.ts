/** What happened around a death: logs, warnings, handled errors, and children with their own bundles. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../../src/analysis/analyze.ts';
import { listBundles } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import type { Account } from '../../../../src/model/account.ts';
import { renderMarkdown } from '../../../../src/report/markdown.ts';
import { renderText } from '../../../../src/report/text.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { type NodeBinary, preload, temporaryFolder } from '../../../support/victims/run-victim.ts';

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ';

interface Told {
  accounts: Account[];
  dumps: string;
}

/** Returns the accounts of all bundles, newest first. */
async function runProgram(
  t: TestContext,
  node: NodeBinary,
  program: string,
  env: Record<string, string> = {},
  logFile?: string,
): Promise<Told> {
  const dir = temporaryFolder(t);
  const dumps = join(dir, 'dumps');
  writeFileSync(join(dir, 'app.cjs'), program);
  if (logFile !== undefined) writeFileSync(join(dir, logFile), 'of a run before\n');
  const child = spawn(node.path, [join(dir, 'app.cjs')], {
    cwd: dir,
    stdio: ['ignore', logFile === undefined ? 'pipe' : openSync(join(dir, logFile), 'a'), 'pipe'],
    env: { HOME: dir, AGENTDUMP_DIR: dumps, NODE_OPTIONS: `--require ${preload}`, ...env },
  });
  child.stdout?.resume();
  child.stderr?.resume();
  await once(child, 'close');
  return { accounts: await readAccounts(dumps), dumps };
}

async function readAccounts(dumps: string): Promise<Account[]> {
  const accounts: Account[] = [];
  for (const { path } of listBundles(dumps)) {
    const bundle = openBundle(path);
    accounts.push(await analyzeBundle(bundle));
    bundle.close();
  }
  return accounts;
}

const story = `
process.on('uncaughtException', (error) => {
  console.error('went on after: ' + error.message);
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), 5);
});
console.log('key ${secret}');
process.stdout.write('half a li');
process.stdout.write('ne\\n');
process.emitWarning('the old way', { code: 'OLD1' });
setTimeout(() => { throw new Error('a bad message'); }, 10);
`;

const withChildren = `
const { spawn } = require('node:child_process');
if (process.argv[2] === 'server') {
  console.error('server: index is missing');
  throw new Error('no index');
}
const server = spawn(process.execPath, [__filename, 'server'], { stdio: ['pipe', 'pipe', 'pipe'] });
server.stderr.on('data', () => {});
server.on('exit', () => {
  const error = new Error('write EPIPE');
  setImmediate(() => { throw error; });
});
`;

for (const node of nodesInTurn) {
  test(`${node.name}: logs, a warning and a handled error`, async (t) => {
    const { accounts, dumps } = await runProgram(t, node, story);
    const account = accounts.find(({ verdict }) => verdict?.kind === 'terminated');
    assert.ok(account);
    const { logs, warnings, handled } = account.happenings ?? {};
    const textOf = (name: string) => logs?.find(({ stream }) => stream === name)?.text ?? '';
    assert.match(textOf('stdout'), /^key \S+\nhalf a line\n$/);
    assert.match(textOf('stderr'), /went on after: a bad message\n/);
    assert.equal(warnings?.[0]?.code, 'OLD1');
    assert.deepEqual(
      handled?.map(({ kind, message }) => [kind, message]),
      [['exception', 'a bad message']],
    );
    for (const name of readdirSync(dumps).filter((one) => one.endsWith('.agentdump')))
      assert.ok(!readFileSync(join(dumps, name, 'process-events.json'), 'utf8').includes(secret));
    assert.match(
      renderText(account),
      /Before the end\n[\s\S]*handled Error: a bad message[\s\S]*half a line/,
    );
    assert.match(renderMarkdown(account), /### Before the end\n[\s\S]*a bad message[\s\S]*half a line/);
  });

  test(`${node.name}: a log that is a file is read at the death, from where this program began`, async (t) => {
    const { accounts } = await runProgram(
      t,
      node,
      `console.log('to a file, ${secret}'); process.exit(2);`,
      { AGENTDUMP_EXITS: 'all' },
      'out.log',
    );
    const [log] = accounts[0]?.happenings?.logs ?? [];
    assert.match(log?.text ?? '', /^to a file, \S+\n$/);
    assert.ok(!log?.text.includes(secret));
    assert.match(log?.target ?? '', /out\.log$/);
  });

  test(`${node.name}: logs are off`, async (t) => {
    const { accounts } = await runProgram(t, node, story, { AGENTDUMP_LOGS: 'off' });
    assert.deepEqual(accounts[0]?.happenings?.logs, []);
  });

  test(`${node.name}: a child's end, its words and its own bundle, linked both ways`, async (t) => {
    const { accounts } = await runProgram(t, node, withChildren);
    const parent = accounts.find(({ error }) => error?.message === 'write EPIPE');
    const child = accounts.find(({ error }) => error?.message === 'no index');
    assert.ok(parent && child);
    const [server] = parent.happenings?.children ?? [];
    assert.equal(server?.exitCode, 1);
    assert.equal(server.pid, child.process?.pid);
    assert.equal(server.bundle?.id, child.bundle?.id);
    assert.match(server.stderrTail ?? '', /server: index is missing/);
    const fact = parent.verdict?.evidence.find(({ part }) => part === 'process-events.json')?.fact ?? '';
    assert.match(
      fact,
      /^Child process \d+ \(.*app\.cjs server\) ended with exit code 1.* Its own bundle says \(certain\): Error: no index at .* Its bundle is /,
    );
    assert.equal(child.happenings?.parent?.pid, parent.process?.pid);
    const recorderId = child.happenings?.parent?.recorderId;
    assert.match(recorderId ?? '', /^[0-9a-f]{16}$/);
  });

  test(`${node.name}: what a shell started before is no parent`, async (t) => {
    const dir = temporaryFolder(t);
    const env = { HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') };
    const dies = (word: string) => `'${node.path}' --require '${preload}' -e 'throw Error("${word}")'`;
    const shell = spawn('sh', ['-c', `${dies('first')}; ${dies('second')}; true`], { env, stdio: 'ignore' });
    await once(shell, 'close');
    const accounts = await readAccounts(env.AGENTDUMP_DIR);
    assert.deepEqual(accounts.map(({ error }) => error?.message).sort(), ['first', 'second']);
    for (const { happenings } of accounts) assert.equal(happenings?.parent, undefined);
  });
}
