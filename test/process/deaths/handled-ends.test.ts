/** The recorded exit code of a program that handled an error, also if a listener of `exit` sets it, as test runners do. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSequel } from '../../../src/bundle/read/sequel.ts';
import { bundlesIn, findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const handled = `process.on('uncaughtException', () => {}); setTimeout(() => { throw new Error('handled'); }, 10);`;
const sets = (code: number) => `process.on('exit', () => { process.exitCode = ${code}; });`;
const ends = [
  { name: 'a natural end', text: sets(2), code: 2 },
  { name: 'process.exit', text: `${sets(3)} setTimeout(() => process.exit(), 300);`, code: 3 },
  { name: 'a code of its own', text: 'setTimeout(() => process.exit(5), 300);', code: 5 },
  { name: 'no code', text: '', code: 0 },
];

for (const node of findNodes())
  for (const { name, text, code } of ends)
    test(`${node.name}: ${name}`, (t) => {
      const folder = temporaryFolder(t);
      const dir = join(folder, 'dumps');
      const { status, stderr } = spawnSync(node.path, ['--require', preload, '-e', handled + text], {
        encoding: 'utf8',
        env: { ...process.env, AGENTDUMP_DIR: dir },
      });
      assert.equal(status, code, stderr);
      const [bundle] = bundlesIn(folder);
      const { event, exitCode } = readSequel(join(dir, bundle ?? '')) ?? {};
      assert.deepEqual([event, exitCode], ['ended', code], stderr);
    });
