/**
 * A timer of ours that is due in one turn of the loop with one of the program's adds no frame to the stack of an error that is
 * thrown there.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testNodes } from '../../support/run/test-nodes.ts';
import { runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

/** What of ours is due meanwhile: milliseconds until the program is busy, and for how long. */
const times = {
  'the start of the thread': [0, 500],
  'the start of the recorder': [1800, 500],
  'a tick of the recorder': [2500, 1500],
};

for (const node of testNodes)
  describe(node.name, { concurrency: 3 }, () => {
    for (const [name, [pauseMs = 0, busyMs = 0]] of Object.entries(times))
      test(name, async (t) => {
        const victim = {
          file: 'rejections/reject-in-busy-turn.cjs',
          args: [String(pauseMs), String(busyMs)],
          bundles: [],
        };
        const [bare, loaded] = await Promise.all(
          [false, true].map((preload) => runVictim(node, victim, { preload, dir: temporaryFolder(t) })),
        );
        assert.match(bare?.stderr ?? '', /^Error: no notes\n {4}at readNotes .*\n\n/m);
        assert.equal(loaded?.stderr, bare?.stderr);
        assert.equal(loaded?.code, 1);
      });
  });
