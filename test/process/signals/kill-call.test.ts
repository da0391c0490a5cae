/** What process.kill asks of its arguments is the same with the preload as without it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const program = `
let asked = 0;
process.kill({ valueOf: () => (asked++, process.pid) }, 0);
process.kill(String(process.pid), 0);
console.log(asked);`;

for (const node of nodesInTurn)
  test(`${node.name}: an object that says its number is asked as often`, (t) => {
    const cwd = temporaryFolder(t);
    const run = (...options: string[]): string =>
      spawnSync(node.path, [...options, '-e', program], { cwd, encoding: 'utf8' }).stdout;
    assert.match(run(), /^\d+\n$/);
    assert.equal(run('--require', preload), run());
  });
