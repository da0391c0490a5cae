/** An agent that lives but makes no progress leaves a bundle that says who waits for whom or what repeats, and continues. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import { renderMarkdown } from '../../../src/report/markdown.ts';
import { renderText } from '../../../src/report/text.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import {
  findNodes,
  type NodeBinary,
  preload,
  programs,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';

interface Run {
  code: number | null;
  accounts: Account[];
  dir: string;
}

async function runAgent(
  t: TestContext,
  node: NodeBinary,
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Run> {
  const dir = temporaryFolder(t);
  const dumps = join(dir, 'dumps');
  const child = spawn(node.path, ['--require', preload, join(programs, program), ...args], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, AGENTDUMP_DIR: dumps, ...env },
  });
  child.stderr.resume();
  const [code] = (await once(child, 'exit')) as [number | null];
  const accounts: Account[] = [];
  for (const { path } of existsSync(dumps) ? listBundles(dumps) : []) {
    const bundle = openBundle(path);
    accounts.push(await analyzeBundle(bundle));
    bundle.close();
  }
  return { code, accounts, dir };
}

const ways: Record<string, string> = {
  locks: 'run planner and run writer wait for each other',
  own: 'tool ask waits for run planner, which cannot end before it',
};

for (const node of findNodes()) {
  for (const [way, title] of Object.entries(ways))
    test(`${node.name}: ${way}`, async (t) => {
      const { code, accounts } = await runAgent(t, node, 'stalls/agent-deadlock.mjs', [way, '200']);
      assert.equal(code, 0);
      assert.equal(accounts.length, 1);
      const [account] = accounts;
      assert.equal(account?.verdict?.kind, 'no-progress');
      assert.ok(account.verdict.title.endsWith(title), account.verdict.title);
      assert.match(renderText(account), /Who waits for whom\n {2}circle /);
      assert.match(renderMarkdown(account), /### Who waits for whom/);
    });

  test(`${node.name}: each other's outcome, in the order that they began`, async (t) => {
    const { accounts } = await runAgent(t, node, 'stalls/agent-deadlock.mjs', ['runs', '200']);
    assert.match(
      accounts[0]?.verdict?.title ?? '',
      /run (planner|writer) and run (writer|planner) wait for each/,
    );
  });

  test(`${node.name}: a loop, found while it goes on`, async (t) => {
    const { code, accounts } = await runAgent(t, node, 'stalls/agent-loops.mjs', ['60000']);
    assert.equal(code, 0);
    assert.match(
      accounts[0]?.verdict?.title ?? '',
      /^No progress: in a loop, search\({"query":"apples"}\) came \d+ times with the same result/,
    );
  });

  test(`${node.name}: ended in the circle, exit code 13`, async (t) => {
    const { code, accounts } = await runAgent(t, node, 'stalls/agent-ends-waiting.mjs', []);
    assert.equal(code, 13);
    assert.match(
      accounts[0]?.verdict?.title ?? '',
      /^Deadlock: run planner and run writer wait for each other/,
    );
  });

  test(`${node.name}: by a variable, with no call of ours`, { skip: onlyWide }, async (t) => {
    const env = { AGENTDUMP_PROGRESS_MS: '200' };
    const { code, accounts } = await runAgent(t, node, 'stalls/agent-deadlock.mjs', ['locks'], env);
    assert.deepEqual([code, accounts[0]?.verdict?.kind], [0, 'no-progress']);
  });

  test(`${node.name}: an agent that gets on leaves nothing`, { skip: onlyWide }, async (t) => {
    const { code, dir } = await runAgent(t, node, 'stalls/agent-gets-on.mjs', ['1500']);
    assert.equal(code, 0);
    assert.equal(existsSync(join(dir, 'dumps')), false);
  });
}
