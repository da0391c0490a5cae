/**
 * JavaScript frames out of cores against V8's own word: the program prints Error.stack with all its frames, then
 * faults at the same place. Every frame's line and column must be V8's, in every tier, on every Node.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { openV8 } from '../../../src/analysis/core/javascript/v8-runtime.ts';
import { builtinName, findSymbol } from '../../../src/analysis/core/native/native-names.ts';
import { walkNativeStack } from '../../../src/analysis/core/native/native-stack.ts';
import type { JavaScriptFrame } from '../../../src/formats/v8/frames/frames.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../support/core-victims.ts';
import { parseTruth, type TruePlace } from '../../support/frame-truth.ts';

const generated = '/generated/frames.js';

/** Flags, and how often the chain is called before it dies. */
const modes: Record<string, { flags: string[]; rounds: number }> = {
  interpreted: { flags: [], rounds: 0 },
  baseline: { flags: ['--always-sparkplug'], rounds: 3 },
  warm: { flags: [], rounds: 2000 },
  // Beside the program it is optimised when a processor has time for it, on a busy machine perhaps after its death.
  hot: { flags: ['--no-concurrent-recompilation'], rounds: 20000 },
};

function readFrames(core: string): JavaScriptFrame[] {
  const dump = openCoreDump(core);
  const v8 = openV8(dump, []);
  assert.ok(v8);
  const [thread] = dump.core.threads;
  assert.ok(thread);
  const stack = walkNativeStack(dump.machine.registersOf(thread), dump);
  const found: JavaScriptFrame[] = [];
  stack.frames.forEach((frame, i) => {
    const builtin = builtinName(findSymbol(frame));
    if (frame.framePointer === undefined || (frame.location && builtin === undefined)) return;
    const { programCounter, framePointer } = frame;
    const name = builtin === undefined ? {} : { builtin };
    const parts = v8.frames.find({ programCounter, framePointer, isTop: i === 0, ...name });
    if (parts && !('frameType' in parts)) found.push(...parts);
  });
  dump.close();
  return found;
}

for (const node of nodes)
  for (const [mode, { flags, rounds }] of Object.entries(modes))
    suite(`Node ${node.major}, ${mode}`, { skip: noCores }, () => {
      let death: Death;
      let truth: TruePlace[];
      let mine: JavaScriptFrame[];
      before(() => {
        const seed = `${node.major * 10 + rounds}`;
        death = makeCore(node.path, [...flags, join(victims, 'frames.cjs'), seed, '90', `${rounds}`]);
        truth = parseTruth(death.stdout).filter((place) => place.file === generated);
        mine = readFrames(death.core).filter((frame) => frame.function.script?.name === generated);
      });
      after(() => death?.remove());

      test('line and column of every frame', () => {
        assert.ok(truth.length > 120, `${truth.length} frames`);
        assert.deepEqual(
          mine.map((frame) => frame.place ?? frame.problem),
          truth.map(({ line, column }) => ({ line, column })),
        );
      });

      test('the tier that the flags ask for', () => {
        const tiers = new Set(mine.map((frame) => frame.tier));
        const wanted = { interpreted: 'interpreter', baseline: 'baseline', hot: 'turbofan', warm: undefined }[
          mode
        ];
        if (wanted) assert.ok(tiers.has(wanted as 'baseline'), [...tiers].join());
        if (mode === 'hot') assert.ok(mine.some((frame) => frame.isInlined));
      });
    });
