/** The standard stream whose write failed is named: its reader had ended. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const program = `setInterval(() => console.log('still here'), 5);`;

for (const node of findNodes())
  test(`${node.name}: the reader of stdout ends`, async (t) => {
    const folder = temporaryFolder(t);
    const dir = join(folder, 'dumps');
    const child = spawn(node.path, ['--require', preload, '-e', program], {
      env: { ...process.env, AGENTDUMP_DIR: dir },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'exit');
    assert.equal(code, 1);
    const bundle = openBundle(join(dir, bundlesIn(folder)[0] ?? ''));
    const { verdict } = await analyzeBundle(bundle);
    bundle.close();
    assert.match(verdict?.title ?? '', /^Error: write EPIPE on process\.stdout at /);
    assert.match(JSON.stringify(verdict?.evidence), /an error event on process\.stdout, which had no/);
  });
