/** A frame pointer on the stack that points to another frame: frames would be missing, and everything that is shown would fit. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type CoreDump, openCoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { openV8 } from '../../../../src/analysis/core/javascript/v8-runtime.ts';
import { builtinName, findSymbol } from '../../../../src/analysis/core/native/native-names.ts';
import { walkNativeStack } from '../../../../src/analysis/core/native/native-stack.ts';
import { describeThread } from '../../../../src/analysis/core/thread-stack.ts';
import { bytesSource } from '../../../../src/bytes/byte-source.ts';
import { ProcessMemory } from '../../../../src/bytes/memory.ts';
import type { Gap } from '../../../../src/model/verdict.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';
import { sampleOf } from '../../../support/run/test-nodes.ts';

const tiers = [
  ['interpreted', ['--no-opt', '--no-sparkplug'], 20],
  ['baseline', ['--no-opt', '--always-sparkplug'], 3],
  ['optimised', ['--no-concurrent-recompilation'], 20_000],
] as const;
const links = 24;

for (const node of nodes)
  for (const [tier, flags, rounds] of sampleOf(tiers, 2))
    suite(`${tier} frames of Node ${node.major}`, { skip: noCores }, () => {
      let death: Death;
      let dump: CoreDump;
      before(() => {
        death = makeCore(node.path, [...flags, join(victims, 'frames.cjs'), '3', `${links}`, `${rounds}`]);
        dump = openCoreDump(death.core);
      });
      after(() => {
        dump?.close();
        death?.remove();
      });

      test('nothing is wrong with them', () => {
        assert.deepEqual(tell(dump).gaps, []);
      });

      test('each frame pointer that was saved, with that of a later frame: a gap, if the frames differ', () => {
        const places = findSaved(dump);
        assert.ok(places.length > links);
        const truth = tell(dump).frames;
        let different = 0;
        for (const [i, place] of sampleOf([...places.entries()], 4))
          for (const ahead of [2, 5]) {
            const other = places[i + ahead];
            if (other !== undefined) different += Number(isTold([[place, other]], truth));
          }
        assert.ok(different > links / 4, `${different}`);
      });

      test('two of them in each other’s place: a gap, if the frames differ', () => {
        const places = findSaved(dump);
        const truth = tell(dump).frames;
        for (const [i, place] of sampleOf([...places.entries()], 4))
          for (const ahead of [1, 4]) {
            const other = places[i + ahead];
            if (other === undefined) continue;
            const [one, two] = [dump.memory.readWord(place), dump.memory.readWord(other)];
            isTold(
              [
                [place, two],
                [other, one],
              ],
              truth,
            );
          }
      });

      /** Whether the frames differ with these words in memory; fails if they do without a gap. */
      function isTold(words: [address: number, value: number][], truth: unknown[]): boolean {
        const { frames, gaps } = tell({ ...dump, memory: withWords(dump, words) });
        const differs = JSON.stringify(frames) !== JSON.stringify(truth);
        const told = words.map(([at, value]) => `0x${at.toString(16)}: 0x${value.toString(16)}`);
        assert.ok(!differs || gaps.length > 0, `${told} gave ${frames.length} frames of ${truth.length}`);
        return differs;
      }
    });

function tell(dump: CoreDump): { frames: unknown[]; gaps: Gap[] } {
  const gaps: Gap[] = [];
  const v8 = openV8(dump, gaps);
  const thread = dump.core.threads[0] ?? assert.fail('no thread');
  const { frames } = describeThread(dump, thread, { v8, crashed: true, values: false, gaps });
  return { frames: frames.map(({ function: name, file, line, column }) => [name, file, line, column]), gaps };
}

/**
 * The addresses of the frame pointers that V8's frames saved of others, innermost first. Where C++ called V8, the caller's value
 * of the register is saved, which may be anything.
 */
function findSaved(dump: CoreDump): number[] {
  const thread = dump.core.threads[0] ?? assert.fail('no thread');
  const { frames } = walkNativeStack(dump.machine.registersOf(thread), dump);
  return frames.flatMap(({ framePointer }, i) => {
    const caller = frames[i + 1];
    const isSaved =
      framePointer !== undefined &&
      caller?.trust === 'frame-pointer' &&
      (builtinName(findSymbol(caller)) !== undefined || !caller.location) &&
      dump.memory.findWord(framePointer) === caller.framePointer;
    return isSaved ? [framePointer] : [];
  });
}

function withWords({ memory }: CoreDump, words: [address: number, value: number][]): ProcessMemory {
  const extents = words.map(([start, value]) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    return { start, end: start + 8, source: bytesSource(bytes), offset: 0 };
  });
  return new ProcessMemory([...extents, ...memory.extents]);
}
