/**
 * Cores of an arm64 Node, read on an x86-64 machine: the place of every frame is V8's own, in every tier. Native stacks equal
 * gdb's, and stay the same if return addresses are signed, which gdb can't read in such a core.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { describeFault } from '../../../src/analysis/core/fault/fault.ts';
import type { Fault } from '../../../src/analysis/core/fault/fault-facts.ts';
import { readCoreGraph } from '../../../src/analysis/core/graph/core-graph.ts';
import { snapshotText } from '../../../src/analysis/core/graph/snapshot-text.ts';
import { writeMiniCore } from '../../../src/analysis/core/mini/mini-core.ts';
import { findSymbol } from '../../../src/analysis/core/native/native-names.ts';
import { walkNativeStack } from '../../../src/analysis/core/native/native-stack.ts';
import { openHeap } from '../../../src/analysis/memory/heap.ts';
import type { Tier } from '../../../src/formats/v8/frames/frames.ts';
import { generatedScript, readJavaScriptFrames } from '../../support/cores/core-frames.ts';
import { type Death, victims } from '../../support/cores/core-victims.ts';
import {
  arm64Root,
  emulatedNodes,
  makeEmulatedCore,
  noEmulation,
} from '../../support/cores/emulated-victims.ts';
import { parseTruth } from '../../support/cores/frame-truth.ts';
import { readGdbStacks } from '../../support/cores/gdb-stacks.ts';
import { edgeShare, nodeShare } from '../../support/heaps/heap-graph-oracle.ts';
import { partInTurn } from '../../support/run/test-nodes.ts';

const gdb = 'gdb-multiarch';
const noGdb = noEmulation || (spawnSync(gdb, ['--version']).status === 0 ? false : `${gdb} is not installed`);
const links = '40';
const atOnce = '--no-concurrent-recompilation';
const modes: { tier: Tier; flags: string[]; rounds: number; since?: number }[] = [
  { tier: 'interpreter', flags: [], rounds: 0 },
  { tier: 'baseline', flags: ['--always-sparkplug'], rounds: 3 },
  { tier: 'maglev', flags: [atOnce], rounds: 2000, since: 24 },
  { tier: 'turbofan', flags: [atOnce], rounds: 20000 },
];

const faults: Record<string, Partial<Fault>> = {
  'read-null': { kind: 'null-dereference', signalName: 'SIGSEGV', code: 'SEGV_MAPERR', address: 0x18n },
  'wild-jump': { kind: 'wild-jump', address: 0n, access: 'execute' },
  illegal: { kind: 'illegal-instruction', signalName: 'SIGILL' },
};

/** Program counters in hexadecimal, and functions, by thread. */
function stacksOf(core: string) {
  const dump = openCoreDump(core);
  const stacks = dump.core.threads.map((thread) => {
    const { frames, stopped } = walkNativeStack(dump.machine.registersOf(thread), dump);
    assert.equal(stopped, undefined);
    const counters = frames.map(({ programCounter }) => programCounter.toString(16));
    return { tid: thread.tid, counters, names: frames.map((frame) => findSymbol(frame)?.name) };
  });
  dump.close();
  return stacks;
}

for (const { major, path } of partInTurn(emulatedNodes, emulatedNodes.length))
  suite(`Node ${major} of arm64`, { skip: noEmulation }, () => {
    for (const { tier, flags, rounds, since = 0 } of modes.filter(({ since: from = 0 }) => major >= from))
      test(`${tier}: line and column of every frame${since ? `, since Node ${since}` : ''}`, () => {
        const program = [join(victims, 'frames.cjs'), `${major * 10 + rounds}`, links, `${rounds}`];
        const death = makeEmulatedCore(path, [...flags, ...program]);
        try {
          const truth = parseTruth(death.stdout).filter(({ file }) => file === generatedScript);
          const mine = readJavaScriptFrames(death.core).filter(
            (frame) => frame.function.script?.name === generatedScript,
          );
          assert.ok(truth.length > 60, `${truth.length} frames`);
          assert.deepEqual(
            mine.map((frame) => frame.place ?? frame.problem),
            truth.map(({ line, column }) => ({ line, column })),
          );
          assert.ok(
            mine.some((frame) => frame.tier === tier),
            mine.map((frame) => frame.tier).join(),
          );
          assert.ok(mine.every((frame) => !frame.doubt));
        } finally {
          death.remove();
        }
      });

    suite('an abort', () => {
      let death: Death;
      before(() => {
        death = makeEmulatedCore(path, [join(victims, 'deaths.cjs'), 'abort']);
      });
      after(() => death?.remove());

      test("every frame of gdb's is ours, and all where return addresses are signed too", {
        skip: noGdb,
      }, () => {
        const plain = makeEmulatedCore(path, [join(victims, 'deaths.cjs'), 'abort'], 'cortex-a57');
        try {
          const stacks = stacksOf(plain.core);
          const theirs = readGdbStacks(path, plain.core, { gdb, root: arm64Root });
          assert.equal(theirs.size, stacks.length);
          for (const { tid, counters } of stacks) {
            const known = theirs.get(tid) ?? [];
            assert.ok(known.length > 3, `${known.length} frames of gdb's`);
            assert.deepEqual(counters.slice(0, known.length), known, `thread ${tid}`);
          }
          const main = stacks[0]?.names;
          assert.equal(main?.at(-1), '_start');
          assert.deepEqual(stacksOf(death.core)[0]?.names, main);
        } finally {
          plain.remove();
        }
      });

      test('the account, and the same from a mini core', async () => {
        const mini = join(dirname(death.core), 'mini.gz');
        const { account, bytes } = await writeMiniCore(death.core, mini);
        assert.equal(account.verdict?.kind, 'abort');
        assert.equal(account.verdict?.confidence, 'likely');
        assert.equal(account.process?.arch, 'arm64');
        // The core names no files; that is the only gap.
        assert.deepEqual(
          account.gaps.map(({ part }) => part),
          ['modules of the core'],
        );
        assert.deepEqual(await accountForCore(mini), account);
        assert.ok(bytes <= 100 * 1024, `${bytes}`);
      });
    });

    if (major === 24)
      test("the heap's graph is V8's own", async () => {
        const name = 'own.heapsnapshot';
        const death = makeEmulatedCore(path, [join(victims, 'heap-graph.cjs'), name]);
        try {
          const truth = await openHeap(join(dirname(death.core), name));
          const found = await openHeap(snapshotText(readCoreGraph(death.core).graph));
          const shares = [nodeShare, edgeShare].map((share) => share(truth, found));
          assert.ok(
            shares.every((share) => share >= 0.96),
            shares.join(),
          );
        } finally {
          death.remove();
        }
      });

    for (const [kind, wanted] of Object.entries(major === 24 ? faults : {}))
      test(`the fault of ${kind}`, () => {
        const death = makeEmulatedCore(path, [join(victims, 'deaths.cjs'), kind]);
        try {
          const dump = openCoreDump(death.core);
          const [thread] = dump.core.threads;
          assert.ok(thread);
          const fault = describeFault(dump.core, thread, dump.memory, dump.machine);
          dump.close();
          for (const [name, value] of Object.entries(wanted))
            assert.equal(fault?.[name as 'kind'], value, name);
        } finally {
          death.remove();
        }
      });
  });
