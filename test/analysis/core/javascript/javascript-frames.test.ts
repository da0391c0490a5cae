/**
 * JavaScript frames read from cores, compared with V8's own: the program prints Error.stack with all its frames, then faults
 * at the same place. Function, line and column of every frame must equal V8's, in every tier, on every Node.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { generatedScript, readJavaScriptFrames } from '../../../support/cores/core-frames.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';
import { bareName, parseTruth, type TruePlace } from '../../../support/cores/frame-truth.ts';

/** V8 flags, and how many times the chain is called before the process dies. */
const modes: Record<string, { flags: string[]; rounds: number }> = {
  interpreted: { flags: [], rounds: 0 },
  baseline: { flags: ['--always-sparkplug'], rounds: 3 },
  warm: { flags: [], rounds: 2000 },
  // Without the flag, code is optimised on another thread, on a busy machine perhaps only after the death.
  hot: { flags: ['--no-concurrent-recompilation'], rounds: 20000 },
};

for (const node of nodes)
  for (const [mode, { flags, rounds }] of Object.entries(modes))
    suite(`Node ${node.major}, ${mode}`, { skip: noCores }, () => {
      let death: Death;
      let truth: TruePlace[];
      let mine: ReturnType<typeof readJavaScriptFrames>;
      before(() => {
        const seed = `${node.major * 10 + rounds}`;
        death = makeCore(node.path, [...flags, join(victims, 'frames.cjs'), seed, '90', `${rounds}`]);
        truth = parseTruth(death.stdout).filter((place) => place.file === generatedScript);
        mine = readJavaScriptFrames(death.core).filter(
          (frame) => frame.function.script?.name === generatedScript,
        );
      });
      after(() => death?.remove());

      test('line and column of every frame', () => {
        assert.ok(truth.length > 120, `${truth.length} frames`);
        assert.deepEqual(
          mine.map((frame) => frame.place ?? frame.problem),
          truth.map(({ line, column }) => ({ line, column })),
        );
      });

      test('the function of every frame', () => {
        assert.deepEqual(
          mine.map(({ shown }) => bareName(shown)),
          truth.map(({ name }) => bareName(name)),
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

for (const node of nodes)
  for (const flags of [[], ['--always-sparkplug']])
    test(`Node ${node.major} ${flags}: calls without a call expression`, { skip: noCores }, () => {
      const death = makeCore(node.path, [...flags, join(victims, 'implicit-calls.cjs'), '0', '100']);
      try {
        const isOwn = (file: string | undefined) => file?.endsWith('/implicit-calls.cjs') ?? false;
        // V8's stack was printed in the line before that of the fault.
        const [, ...truth] = parseTruth(death.stdout).filter(({ file }) => isOwn(file));
        const [, ...mine] = readJavaScriptFrames(death.core).filter((f) => isOwn(f.function.script?.name));
        assert.ok(truth.length > 160, `${truth.length} frames`);
        assert.deepEqual(
          mine.map(({ shown, place, problem }) => [bareName(shown), place ?? problem]),
          truth.map(({ name, line, column }) => [bareName(name), { line, column }]),
        );
      } finally {
        death.remove();
      }
    });
