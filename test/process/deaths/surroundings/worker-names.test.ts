/** A worker thread that dies is named by its id, the name that the program gave it (from Node 22 on) and its file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../../src/analysis/analyze.ts';
import { listBundles } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import type { Account } from '../../../../src/model/account.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { type NodeBinary, preload, temporaryFolder } from '../../../support/victims/run-victim.ts';

async function dieOf(t: TestContext, node: NodeBinary, program: string): Promise<Account[]> {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'app.mjs'), `import { Worker } from 'node:worker_threads';\n${program}`);
  writeFileSync(join(dir, 'indexer.mjs'), `setTimeout(() => { throw new Error('bad shard'); }, 1);`);
  spawnSync(node.path, [join(dir, 'app.mjs')], {
    cwd: dir,
    env: {
      PATH: '',
      HOME: dir,
      AGENTDUMP_DIR: join(dir, 'dumps'),
      AGENTDUMP_HEAP: 'off',
      NODE_OPTIONS: `--require ${preload}`,
    },
  });
  const accounts: Account[] = [];
  for (const { path } of listBundles(join(dir, 'dumps'))) {
    const bundle = openBundle(path);
    accounts.push(await analyzeBundle(bundle));
    bundle.close();
  }
  return accounts;
}

const start = `new Worker(new URL('./indexer.mjs', import.meta.url), { name: 'shard 3' })`;

for (const node of nodesInTurn) {
  const named = node.name.endsWith('20') ? '' : 'shard 3, ';
  test(`${node.name}: a worker that throws, and its parent that dies of it`, async (t) => {
    const accounts = await dieOf(t, node, start);
    const summaries = accounts.map(({ verdict }) => verdict?.summary ?? '');
    const titles = accounts.map(({ verdict }) => verdict?.title ?? '');
    assert.ok(
      titles.some((title) =>
        title.startsWith(`Worker thread 1 (${named}indexer.mjs) died: Error: bad shard`),
      ),
      titles.join('\n'),
    );
    const inParent = named ? 'worker thread 1 (shard 3)' : 'worker thread 1';
    assert.ok(
      summaries.some((summary) => summary.startsWith(`Uncaught exception in ${inParent}, `)),
      summaries.join('\n'),
    );
  });

  test(`${node.name}: a worker that is out of memory`, async (t) => {
    const hog = `const kept = []; setInterval(() => { for (let i = 0; i < 2000; i++) kept.push({ i, text: String(i) }); }, 1);`;
    const limits = `{ eval: true, name: 'hog', resourceLimits: { maxOldGenerationSizeMb: 16 } }`;
    const [account] = await dieOf(
      t,
      node,
      `new Worker(${JSON.stringify(hog)}, ${limits}).on('error', () => process.exit(0)); setInterval(() => {}, 1000);`,
    );
    const name = named ? ' (hog)' : '';
    const title = account?.verdict?.title ?? '';
    // On a busy machine the preload's second thread starts first, and has the id 1.
    const [what, place] = title.replace(/thread \d/, 'thread').split(', likely started at ');
    assert.equal(what, `Worker thread${name} ran out of memory (its own heap limit)`);
    assert.match(place ?? '', /^app\.mjs:\d+:\d+$/);
  });
}
