/**
 * Native stacks of real cores, compared with two peers: with gdb up to the frame where it gives up, and with the whole stack
 * of eu-stack.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type CoreDump, openCoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { walkNativeStack } from '../../../../src/analysis/core/native/native-stack.ts';
import { type Death, makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { readGdbStacks } from '../../../support/cores/gdb-stacks.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

const has = (tool: string) => spawnSync(tool, ['--version']).status === 0;
const noGdb = noCores || (has('gdb') ? false : 'gdb is not installed');
const noEuStack = noCores || (has('eu-stack') ? false : 'eu-stack (elfutils) is not installed');

function ours(dump: CoreDump): Map<number, string[]> {
  return new Map(
    dump.core.threads.map((thread) => {
      const { frames } = walkNativeStack(dump.machine.registersOf(thread), dump);
      return [thread.tid, frames.map((f) => f.programCounter.toString(16))];
    }),
  );
}

for (const node of nodesInTurn)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    let dump: CoreDump;
    before(() => {
      death = makeCore(node.path, [join(victims, 'deaths.cjs'), 'read-null']);
      dump = openCoreDump(death.core);
    });
    after(() => {
      dump.close();
      death.remove();
    });

    test('every frame that gdb names is ours too', { skip: noGdb }, () => {
      const stacks = ours(dump);
      const theirs = readGdbStacks(node.path, death.core);
      assert.equal(theirs.size, dump.core.threads.length);
      for (const [tid, pcs] of theirs) {
        assert.ok(pcs.length > 0);
        assert.deepEqual(stacks.get(tid)?.slice(0, pcs.length), pcs, `thread ${tid}`);
      }
    });

    test('every stack is the one that eu-stack shows', { skip: noEuStack }, () => {
      const args = ['-n', '400', '-r', '--core', death.core, '-e', node.path];
      const { stdout } = spawnSync('eu-stack', args, { encoding: 'utf8', maxBuffer: 1 << 26 });
      const theirs = new Map<number, string[]>();
      let current: string[] = [];
      for (const line of stdout.split('\n')) {
        const thread = /^TID (\d+):/.exec(line);
        const frame = /^#\d+\s+0x0*([0-9a-f]+)/.exec(line);
        if (thread) {
          current = [];
          theirs.set(Number(thread[1]), current);
        } else if (frame?.[1]) current.push(frame[1]);
      }
      assert.equal(theirs.size, dump.core.threads.length);
      assert.deepEqual(ours(dump), theirs);
    });

    test('a stack ends at the first frame of its thread, with no word of complaint', () => {
      for (const thread of dump.core.threads) {
        const stack = walkNativeStack(dump.machine.registersOf(thread), dump);
        assert.equal(stack.stopped, undefined);
        const last = stack.frames.at(-1)?.location;
        const name = last?.address === undefined ? '' : last.module.code?.findFunction(last.address)?.name;
        assert.match(name ?? '', /_start|clone/);
      }
    });
  });
