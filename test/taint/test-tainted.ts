/** Tests that no secret of the tainted program is in what it leaves, for a table of its deaths. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testNodes } from '../support/run/test-nodes.ts';
import { makeTaint } from './places.ts';
import { findTaint } from './readings.ts';
import { type Death, runTainted } from './run-tainted.ts';

export interface TaintedDeath extends Death {
  skip?: string | false;
  /** Matches a part that must exist; otherwise the death was not the intended one. */
  part?: RegExp;
}

const seed = Number(process.env['AGENTDUMP_TEST_SEED'] ?? 20_261_126);

/** Files of tests that run at the same time search the same shared memory, so none may plant what another does. */
const seedOf = (names: readonly string[]): number =>
  seed +
  1000 *
    names
      .join('')
      .split('')
      .reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

/** Each on one of the Nodes: what differs between them is in the preload (preload.test.ts). */
export function testTainted(deaths: Readonly<Record<string, TaintedDeath>>): void {
  const first = seedOf(Object.keys(deaths));
  for (const [i, [name, { skip, part, ...death }]] of Object.entries(deaths).entries()) {
    const node = testNodes[i % testNodes.length]!;
    test(`${name}: no secret in any file or answer (${node.name})`, { skip: skip ?? false }, async () => {
      const taint = makeTaint(first + i);
      const { bundles, files, told } = await runTainted(node.path, death, taint);
      assert.ok(death.killAt || bundles.length > 0, `no bundle: ${told}`);
      assert.ok(!part || files.some(({ path }) => part.test(path)), `no ${part}: ${told}`);
      assert.deepEqual(findTaint(files, taint.canaries), []);
    });
  }
}
