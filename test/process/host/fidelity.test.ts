/**
 * Never worse: on every Node of the run, a program with the preload ends as it does without, prints the same, and its
 * listeners see the same; the bundles that its death should leave are there. The quick run takes a sample of the table of
 * deaths.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verdictKinds } from '../../../src/model/verdict.ts';
import { sampleOf } from '../../support/run/test-nodes.ts';
import {
  bundlesIn,
  findNodes,
  kindOfBundle,
  type Outcome,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';
import { victimName, victims } from '../../support/victims/victims.ts';

/** Removes what differs between any two runs of one program. */
function comparable(outcome: Outcome): Omit<Outcome, 'ownLines'> {
  const { ownLines, ...rest } = outcome;
  const stderr = rest.stderr
    .replace(/\(node:\d+\)/g, '(node:PID)')
    .replace(/\[\d+:0x[0-9a-f]+\]/g, '[PID]')
    .replace(/0x[0-9a-f]{6,}/g, '0xADDRESS')
    .replace(/agentdump-test-\w+/g, 'TMP')
    // What libc's unwinder prints for the frames below the first depends on what is on the stack.
    .replace(/(?:^ *\d+: 0xADDRESS .*\n)+/gm, 'NATIVE STACK\n')
    // Whether a worker's last message or its end arrives first is a race in every Node version.
    .replace(/^ +at (?:\[kOnExit\]|Worker\.<computed>\.onexit) .*\n/gm, '');
  return { ...rest, stderr };
}

for (const node of findNodes())
  describe(node.name, { concurrency: 2 }, () => {
    for (const victim of sampleOf(victims, 9))
      test(victimName(victim), async (t) => {
        const bareDir = temporaryFolder(t);
        const dir = temporaryFolder(t);
        const bare = await runVictim(node, victim, { preload: false, dir: bareDir });
        const loaded = await runVictim(node, victim, { preload: true, dir });
        assert.deepEqual(comparable(loaded), comparable(bare));
        const kinds = bundlesIn(dir).map((name) => kindOfBundle(name, verdictKinds));
        assert.deepEqual(kinds.sort(), victim.bundles, `our lines: ${loaded.ownLines.join(' / ')}`);
        assert.deepEqual(bundlesIn(bareDir), []);
      });
  });
