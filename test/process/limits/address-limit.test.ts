/**
 * Under a limit on address space (`ulimit -v`), where V8 and the C++ library abort a process that can't map memory, the
 * program lives and dies as it does without the preload.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findNodes, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

/** Lives longer than the watchdog needs to start. Prints the most address space it had reserved. */
const code = `const { readFileSync } = require('node:fs');
setTimeout(() => {
  console.log(readFileSync('/proc/self/status', 'latin1').match(/^VmPeak:\\s+(\\d+)/m)[1]);
  throw new Error('x');
}, 1000);`;
/** Enough for a bundle, but not for a thread with a heap of its own. */
const roomKilobytes = 400 * 1024;

for (const node of findNodes())
  test(`${node.name}: room for the program, and too little for a watchdog`, {
    skip: existsSync('/proc/self/limits') ? false : 'no RLIMIT_AS to be seen',
  }, async (t) => {
    const dir = temporaryFolder(t);
    const program = join(dir, 'program.cjs');
    writeFileSync(program, code);
    const victim = { file: 'throws/throw-sync.cjs', flags: [program], bundles: [] };
    const free = await runVictim(node, victim, { preload: false, dir });
    const maxAddressKilobytes = Number(free.stdout) + roomKilobytes;
    const limited = { ...victim, maxAddressKilobytes };
    const [bare, { ownLines, ...loaded }] = [
      await runVictim(node, limited, { preload: false, dir }),
      await runVictim(node, limited, { preload: true, dir }),
    ];
    const dead = { code: 1, signal: null, stderr: free.stderr };
    for (const { stdout, ...end } of [bare, { ...loaded, ownLines: [] }])
      assert.deepEqual(end, { ...dead, ownLines: [] });
    assert.equal(ownLines.length, 1, ownLines.join('\n'));
    assert.match(ownLines[0] ?? '', /\.agentdump/);
  });
