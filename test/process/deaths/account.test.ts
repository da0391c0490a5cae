/** From a real death to its account, for what no unit can get wrong alone: locals, and which death `latest` means. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import type { Account } from '../../../src/model/account.ts';
import { nodesInTurn, onlyWide } from '../../support/run/test-nodes.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';
import { type NodeBinary, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

async function latestAccount(
  t: TestContext,
  node: NodeBinary,
  program: string,
  env: Record<string, string> = {},
  modules: Record<string, string> = {},
): Promise<{ account: Account; stdout: string }> {
  const dir = temporaryFolder(t);
  const dumps = join(dir, 'dumps');
  writeFileSync(join(dir, 'app.cjs'), program);
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(dir, name), text);
  const { stdout } = spawnSync(node.path, [join(dir, 'app.cjs')], {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH: '', HOME: dir, AGENTDUMP_DIR: dumps, NODE_OPTIONS: `--require ${preload}`, ...env },
  });
  const bundle = openBundle(findBundle('latest', dumps));
  const account = await analyzeBundle(bundle);
  assertOfSchema(account);
  bundle.close();
  return { account, stdout };
}

for (const node of nodesInTurn) {
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

  test(`${node.name}: where an imported module ceases to be JavaScript`, { skip: onlyWide }, async (t) => {
    const modules = {
      'entry.mjs': `import { a } from './well.mjs';`,
      'well.mjs': `#!/usr/bin/env node\nexport * from './broken%20one.mjs';\nexport default class {}\n`,
      'broken one.mjs': `import {\n  join,\n} from 'node:path';\nexport { a as b };\nconst a = await 1;\nexport const c = { x: 1, y; 2 };\n`,
    };
    for (const how of [`import('./entry.mjs')`, `import('./broken%20one.mjs')`]) {
      const { account } = await latestAccount(t, node, how, {}, modules);
      assert.equal(account.verdict?.kind, 'startup-failure');
      assert.match(
        account.verdict?.title ?? '',
        /^SyntaxError: Unexpected token ';' in broken one\.mjs:6:27$/,
      );
      assert.match(account.verdict?.evidence[1]?.fact ?? '', /broken one\.mjs:6:27: export const c = /);
    }
    // The import is valid, and the module is refused for a reason that only the loader knows: no place is claimed.
    const { account } = await latestAccount(
      t,
      node,
      `import('./twice.mjs')`,
      {},
      {
        'twice.mjs': 'export default 1;\nexport default 2;\n',
      },
    );
    assert.match(account.verdict?.title ?? '', /^SyntaxError: (?!.* in ).*default'/);
  });

  test(`${node.name}: latest is the child that died, not the parent that passes its exit code on`, async (t) => {
    const program = `if (process.argv[2]) throw new Error('in the child');
    const { spawnSync } = require('node:child_process');
    process.exit(spawnSync(process.execPath, [__filename, 'child'], { stdio: 'ignore' }).status);`;
    const { account } = await latestAccount(t, node, program, { AGENTDUMP_EXITS: 'all' });
    assert.equal(account.error?.message, 'in the child');
  });

  test(`${node.name}: an error event that nobody listened to names its emitter`, async (t) => {
    const worker = `const { Worker, isMainThread } = require('node:worker_threads');
    if (isMainThread) new Worker(__filename);
    else setTimeout(() => { throw new Error('from the worker'); }, 5);`;
    const { account } = await latestAccount(t, node, worker);
    assert.match(
      account.verdict?.summary ?? '',
      /^Uncaught exception in worker thread 1.* Its Worker has no error listener/,
    );
    const socket = `require('node:net').connect(1, '127.0.0.1');`;
    const { account: second } = await latestAccount(t, node, socket);
    const facts = second.verdict?.evidence.map(({ fact }) => fact).join(' ') ?? '';
    assert.match(facts, /emitted as an error event on a Socket/);
    assert.match(second.verdict?.nextSteps.join('\n') ?? '', /^Give that Socket an error listener/m);
    const { account: thrown } = await latestAccount(t, node, `throw new Error('thrown');`);
    assert.doesNotMatch(JSON.stringify(thrown.verdict), /emitted/);
  });

  test(`${node.name}: with the debugger armed, where a rejected promise comes from`, async (t) => {
    const program = `async function plan() { await null; throw new Error('lost'); }
    function start() { return plan().then((x) => x); }
    setTimeout(() => start(), 5);`;
    const { account } = await latestAccount(t, node, program, { AGENTDUMP_LOCALS: 'uncaught' });
    const facts = account.verdict?.evidence.map(({ fact }) => fact).join(' ') ?? '';
    assert.match(facts, /The promise comes from start \(app\.cjs:2/);
  });

  test(`${node.name}: the program's getters do not run for us`, async (t) => {
    const program = `const error = new Error('with a getter for a stack');
    Object.defineProperty(error, 'stack', { get() { console.log('ran'); return 'made up'; } });
    throw error;`;
    const { stdout, account } = await latestAccount(t, node, program);
    const file = join(temporaryFolder(t), 'app.cjs');
    writeFileSync(file, program);
    const bare = spawnSync(node.path, [file], { encoding: 'utf8', env: {} }).stdout;
    assert.equal(stdout, bare);
    assert.equal(account.error?.message, 'with a getter for a stack');
  });
}
