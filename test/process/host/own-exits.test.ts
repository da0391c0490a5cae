/**
 * A program that has replaced a function by one that exits lives on if only our code calls it; and an exit of the program
 * itself is never refused. A sample; own-exits.wide.test.ts has all of it.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleOf, testNodes, usualNode } from '../../support/run/test-nodes.ts';
import { runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';
import { liveInItsWorld } from './host-world-runs.ts';

describe('replaced', { concurrency: 4 }, () => {
  for (const what of [
    ['Date.now', 'exits', 'logs'],
    ['process.memoryUsage', 'exits', 'http'],
    ['Map.prototype.keys', 'exits', 'http'],
    ['Set.prototype.add', 'exits', 'child'],
    ['Array.prototype.sort', 'throws', 'listeners'],
    ['process.getBuiltinModule', 'throws', 'logs'],
  ])
    test(what.join(' '), async (t) => {
      assert.equal(await liveInItsWorld(t, usualNode, what), 'lives');
    });
});

const places = [
  'warning',
  'uncaught exception',
  'monitor of exceptions',
  'unhandled rejection',
  'exit',
  'natural end',
  'signal',
  'channel',
  'request of a server',
  'connection of a client',
  'upgrade',
  'error output of a child',
  'first write',
  'worker',
  'a replaced function that the program calls',
];

for (const node of testNodes)
  describe(`${node.name}: an exit of the program itself`, { concurrency: 2 }, () => {
    for (const place of sampleOf(places, 2))
      test(place, async (t) => {
        const victim = { file: 'exits/exits-itself.cjs', args: [place], bundles: [] };
        const [bare, loaded] = await Promise.all(
          [false, true].map((preload) => runVictim(node, victim, { preload, dir: temporaryFolder(t) })),
        );
        assert.equal(bare?.code, 41);
        const comparable = (stderr = ''): string => stderr.replace(/\(node:\d+\)/, '(node)');
        assert.deepEqual(
          [loaded?.code, loaded?.signal, loaded?.stdout, comparable(loaded?.stderr)],
          [bare?.code, bare?.signal, bare?.stdout, comparable(bare?.stderr)],
        );
      });
  });
