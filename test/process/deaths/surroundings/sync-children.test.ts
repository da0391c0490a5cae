/** Children of spawnSync and execSync that died stand in the account of their parent, with the cause of their own bundle. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listBundles } from '../../../../src/bundle/finished/list.ts';
import type { Account } from '../../../../src/model/account.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { accountOf } from '../../../support/victims/run-account.ts';
import { type NodeBinary, preload, temporaryFolder } from '../../../support/victims/run-victim.ts';

/** The child has one too. */
function bundleOf(program: string, dumps: string): string {
  const found = listBundles(dumps).find(({ name }) => name.includes(`-${program}-`));
  assert.ok(found, `no bundle of ${program}`);
  return found.path;
}

async function dieOf(t: TestContext, node: NodeBinary, program: string): Promise<Account> {
  const dir = temporaryFolder(t);
  const head = `const { execFileSync, execSync, spawnSync } = require('node:child_process');\n`;
  writeFileSync(join(dir, 'shop.cjs'), `${head}${program}`);
  writeFileSync(join(dir, 'migrate.cjs'), `throw new Error('no such table');`);
  spawnSync(node.path, [join(dir, 'shop.cjs')], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      AGENTDUMP_DIR: join(dir, 'dumps'),
      AGENTDUMP_HEAP: 'off',
      NODE_OPTIONS: `--require ${preload}`,
    },
  });
  return await accountOf(bundleOf('shop', join(dir, 'dumps')));
}

for (const node of nodesInTurn) {
  test(`${node.name}: execFileSync: code, last words and the cause`, async (t) => {
    const { happenings, verdict } = await dieOf(
      t,
      node,
      `execFileSync(process.execPath, ['migrate.cjs'], { stdio: 'pipe' });`,
    );
    assert.equal(happenings?.children?.[0]?.exitCode, 1);
    assert.match(
      verdict?.summary ?? '',
      /Child process \d+ \(.*migrate\.cjs\) ended with exit code 1: Error: no such table at migrate\.cjs:1:7\.$/,
    );
    assert.match(
      verdict?.evidence.map(({ fact }) => fact).join(' ') ?? '',
      /its last words: Error: no such table\./,
    );
  });

  test(`${node.name}: spawnSync, whose result nobody but the program sees`, async (t) => {
    const { verdict } = await dieOf(
      t,
      node,
      `const { status } = spawnSync(process.execPath, ['migrate.cjs']); throw new Error('migration ended with ' + status);`,
    );
    assert.match(
      verdict?.summary ?? '',
      /Child process \d+ \(.*migrate\.cjs\) died and left a bundle: Error: no such table/,
    );
  });

  test(`${node.name}: a child that was killed at its limit`, async (t) => {
    const { happenings } = await dieOf(
      t,
      node,
      `execSync('sleep 60', { timeout: 50, killSignal: 'SIGKILL' });`,
    );
    const [child] = happenings?.children ?? [];
    assert.equal(child?.signal, 'SIGKILL');
    assert.equal(child?.command, "/bin/sh -c 'sleep 60'");
  });

  test(`${node.name}: a child that fails by itself, and is no Node`, async (t) => {
    const { happenings } = await dieOf(t, node, `execSync('echo broken >&2; exit 3', { stdio: 'pipe' });`);
    const [child] = happenings?.children ?? [];
    assert.deepEqual([child?.exitCode, child?.stderrTail], [3, 'broken\n']);
  });
}
