/** From a real death to its account, where single rooms can't be wrong alone: locals, the death that `latest` means. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { findBundle } from '../../src/bundle/list.ts';
import { openBundle } from '../../src/bundle/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { findNodes, type NodeBinary, preload, temporaryFolder } from '../support/run-victim.ts';

async function latestAccount(
  t: TestContext,
  node: NodeBinary,
  program: string,
  env: Record<string, string> = {},
): Promise<{ account: Account; stdout: string }> {
  const dir = temporaryFolder(t);
  const dumps = join(dir, 'dumps');
  writeFileSync(join(dir, 'app.cjs'), program);
  const { stdout } = spawnSync(node.path, [join(dir, 'app.cjs')], {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH: '', HOME: dir, AGENTDUMP_DIR: dumps, NODE_OPTIONS: `--require ${preload}`, ...env },
  });
  const bundle = openBundle(findBundle('latest', dumps));
  const account = await analyzeBundle(bundle);
  bundle.close();
  return { account, stdout };
}

for (const node of findNodes()) {
  test(`${node.name}: the variables at the throw point`, async (t) => {
    const program = `function plan(city) {
      const settings = { retries: 3 };
      throw new Error('no plan for ' + city + settings.retries);
    }
    setTimeout(() => plan('Oslo'), 5);`;
    const { account } = await latestAccount(t, node, program, { AGENTDUMP_LOCALS: 'uncaught' });
    const frame = account.error?.frames?.find((one) => one.function === 'plan');
    const values = Object.fromEntries((frame?.locals ?? []).map(({ name, value }) => [name, value]));
    assert.equal(values['city'], '"Oslo"');
    assert.match(values['settings'] ?? '', /retries: 3/);
  });

  test(`${node.name}: latest is the child that died, not the parent that passes its exit code on`, async (t) => {
    const program = `if (process.argv[2]) throw new Error('in the child');
    const { spawnSync } = require('node:child_process');
    process.exit(spawnSync(process.execPath, [__filename, 'child'], { stdio: 'ignore' }).status);`;
    const { account } = await latestAccount(t, node, program);
    assert.equal(account.error?.message, 'in the child');
  });

  test(`${node.name}: the program's getters do not run for us`, async (t) => {
    const program = `const error = new Error('with a getter for a stack');
    Object.defineProperty(error, 'stack', { get() { console.log('ran'); return 'made up'; } });
    throw error;`;
    const { stdout, account } = await latestAccount(t, node, program);
    const bare = spawnSync(node.path, ['-e', program], { encoding: 'utf8', env: {} }).stdout;
    assert.equal(stdout, bare);
    assert.equal(account.error?.message, 'with a getter for a stack');
  });
}
