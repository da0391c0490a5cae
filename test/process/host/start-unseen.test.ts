/** Before the program's first line nothing was opened or loaded for which Node waits until a program asks. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const program = `const { writeSync } = require('node:fs');
writeSync(1, JSON.stringify([process.getActiveResourcesInfo(), process.moduleLoadList.filter((name) =>
  / internal\\/(util\\/(diff|colors|parse_args\\/parse_args)|fs\\/dir|assert\\/myers_diff)$| tty$/.test(name))]));`;

for (const node of testNodes)
  test(`${node.name}: the standard streams, and modules that Node loads on demand`, (t) => {
    const [bare, loaded] = [[], ['--require', preload]].map((flags) => {
      const env = { ...process.env, NODE_OPTIONS: '', AGENTDUMP_DIR: temporaryFolder(t) };
      return spawnSync(node.path, [...flags, '--eval', program], { encoding: 'utf8', env }).stdout;
    });
    assert.match(bare ?? '', /^\[\[\],/);
    assert.equal(loaded, bare);
  });
