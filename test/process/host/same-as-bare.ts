/** A program with the preload beside the same one without: ends, words, and the bundles that its death should leave. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verdictKinds } from '../../../src/model/verdict.ts';
import {
  bundlesIn,
  kindOfBundle,
  type NodeBinary,
  type Outcome,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';
import { type Victim, victimName, victims } from '../../support/victims/victims.ts';
import { deaths } from '../deaths/deaths.ts';

const named = new Set(deaths.flatMap(({ victims: some }) => some.map(({ program }) => program)));
/** The victims of the table of deaths. */
export const inTable = victims.filter(({ file }) => named.has(file));
export const besideTable = victims.filter(({ file }) => !named.has(file));

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

export function testSameAsBare(node: NodeBinary, some: readonly Victim[]): void {
  describe(node.name, { concurrency: 2 }, () => {
    for (const victim of some)
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
}
