/**
 * Out of descriptors or threads: enough are freed to write every part; if that is impossible, the program dies or lives on as
 * it does without the preload.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, onlyWide } from '../../support/run/test-nodes.ts';
import { preload, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

for (const node of nodesInTurn)
  for (const file of ['descriptors/out-of-descriptors.cjs', 'descriptors/leaks-descriptors.cjs'])
    test(`${node.name}: ${file}`, async (t) => {
      const dir = temporaryFolder(t);
      const env = { AGENTDUMP_HEAP: 'always' };
      await runVictim(node, { file, maxDescriptors: 64, bundles: [] }, { preload: true, dir, env });
      const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
      const { limits, cgroup } = bundle.readJson('process.json') as { limits: object; cgroup: object };
      const { descriptorCount } = bundle.readJson('handles.json') as { descriptorCount: number };
      bundle.close();
      // Counted at the death, although some were closed since. An inherited descriptor may have a number beyond the limit.
      assert.ok(descriptorCount >= 64, `${descriptorCount} of 64`);
      assert.deepEqual(bundle.gaps, []);
      assert.ok(Object.keys(limits).length > 0 && Object.keys(cgroup).length > 0);
      const names = bundle.parts.map(({ name }) => name);
      for (const name of ['memory.json', 'handles.json', 'heap.heapsnapshot.gz', 'sources/1.txt'])
        assert.ok(names.includes(name), `${name} is missing of ${names.join(' ')}`);
    });

const goesOn = `const { openSync, closeSync } = require('node:fs');
const open = [];
process.on('uncaughtException', ({ code }) => console.log('handled', code));
setTimeout(() => { for (;;) open.push(openSync('/dev/null')); }, 50);
setTimeout(() => { open.forEach(closeSync); console.log('went on'); process.exit(0); }, 400);`;
const dies = `const { openSync } = require('node:fs');
const open = [];
setTimeout(() => { for (;;) open.push(openSync('/dev/null')); }, 50);`;

/** Node creates a thread and a loop for each of our deadlines, and aborts the process if it can't. */
for (const node of nodesInTurn)
  for (const [what, code, maxDescriptors] of [
    ['a program that handles it, and goes on', goesOn, 40],
    ['few that could be given back', dies, 30],
    ['too few from the start', `setTimeout(() => { throw new Error('x'); }, 50);`, 26],
  ] as const)
    test(`${node.name}: ${what}`, async (t) => {
      const dir = temporaryFolder(t);
      const program = join(dir, 'program.cjs');
      writeFileSync(program, code);
      const victim = { file: 'throws/throw-sync.cjs', flags: [program], maxDescriptors, bundles: [] };
      const bare = await runVictim(node, victim, { preload: false, dir });
      const { ownLines, ...loaded } = await runVictim(node, victim, { preload: true, dir });
      assert.deepEqual({ ...loaded, ownLines: [] }, bare);
      assert.equal(ownLines.length, 1, ownLines.join('\n'));
    });

const canLimitThreads = process.geteuid?.() === 0 && existsSync('/proc/loadavg');
/** With fewer, bare Node aborts; with some of these it hangs (seen on Node 26). */
const threadLimits = [7, 8, 9, 10];

for (const node of nodesInTurn)
  test(`${node.name}: no thread left`, { skip: canLimitThreads ? onlyWide : 'only root can' }, (t) => {
    const dir = temporaryFolder(t);
    chmodSync(dir, 0o777);
    const program = join(dir, 'program.cjs');
    writeFileSync(program, `setTimeout(() => { throw new Error('x'); }, 50);`);
    // A user id of our own, because the kernel counts all threads of the user.
    const uid = 1_900_000_000 + process.pid;
    const die = (limit: number, flags: string[]) =>
      spawnSync('/bin/sh', ['-c', `ulimit -u ${limit}; exec "$@"`, 'sh', node.path, ...flags, program], {
        cwd: dir,
        uid,
        env: { PATH: process.env['PATH'], HOME: dir },
        timeout: 10_000,
        killSignal: 'SIGKILL',
      });
    let tried = 0;
    for (const limit of threadLimits) {
      if (die(limit, []).status !== 1) continue;
      tried++;
      const { status, signal } = die(limit, ['--require', preload]);
      assert.deepEqual({ status, signal }, { status: 1, signal: null }, `at ${limit} threads`);
    }
    t.diagnostic(`${tried} of ${threadLimits.length} limits`);
  });

const counts = `const { closeSync, openSync } = require('node:fs');
console.log('begins'); // With its first stream libuv keeps a descriptor in reserve.
setTimeout(() => {
  const open = [];
  try {
    for (;;) open.push(openSync('/dev/null'));
  } catch ({ code }) {
    console.log(open.length, code);
  }
  open.forEach(closeSync);
}, 1000);`;

/** One that Node 20 can just start with, and one that would have been enough for our thread, but not for the program as well. */
for (const node of nodesInTurn)
  for (const maxDescriptors of [24, 30])
    test(`${node.name}: of ${maxDescriptors} descriptors we take none`, async (t) => {
      const dir = temporaryFolder(t);
      const program = join(dir, 'program.cjs');
      writeFileSync(program, counts);
      const victim = { file: 'throws/throw-sync.cjs', flags: [program], maxDescriptors, bundles: [] };
      const bare = await runVictim(node, victim, { preload: false, dir });
      assert.match(bare.stdout, /^\d+ EMFILE$/m);
      assert.deepEqual(await runVictim(node, victim, { preload: true, dir }), bare);
    });
