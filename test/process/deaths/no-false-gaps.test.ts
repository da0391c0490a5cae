/** `analyze` exits with 1 if there are gaps: none is for what could not be there, or is left out by design. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

for (const node of nodesInTurn)
  for (const [name, text] of [
    ['whose first import is missing', `import { x } from 'no-such-package-at-all';\nconsole.log(x);\n`],
    ['that is no JavaScript', 'const a = ;\n'],
  ] as const)
    test(`${node.name}: a program ${name} has no script, which is no gap`, (t) => {
      const dir = temporaryFolder(t);
      writeFileSync(join(dir, 'app.mjs'), text);
      const { status } = spawnSync(node.path, ['app.mjs'], {
        cwd: dir,
        env: { PATH: '', HOME: dir, AGENTDUMP_DIR: 'dumps', NODE_OPTIONS: `--require ${preload}` },
      });
      assert.equal(status, 1);
      const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
      t.after(() => bundle.close());
      assert.equal(bundle.head.verdictKind, 'startup-failure');
      assert.deepEqual(bundle.gaps, []);
    });
