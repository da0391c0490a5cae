/**
 * Runs a program that has replaced a part of its own world until it dies, bare and with the preload, and compares the two
 * ends.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { bundlesIn, type NodeBinary, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

/**
 * Returns whether a bundle was written; if not, one line has said why. `not its own`: Node itself called the replacement, and
 * the program died of that, bare too. Throws if the two ends differ.
 */
export async function dieInItsWorld(
  t: TestContext,
  node: NodeBinary,
  [what, how = '', death = 'throw']: readonly string[],
  file = 'host/host-world.cjs',
): Promise<'written' | 'refused' | 'not its own'> {
  const [bareDir, dir] = [temporaryFolder(t), temporaryFolder(t)];
  const victim = { file, args: [what ?? '', how, death], bundles: [] };
  const [bare, loaded] = await Promise.all([
    runVictim(node, victim, { preload: false, dir: bareDir }),
    runVictim(node, victim, { preload: true, dir }),
  ]);
  const { ownLines: _, ...expected } = bare;
  const { ownLines, ...found } = loaded;
  const name = `${what} ${how} ${death}`;
  // Bare, Node called the replacement before it had printed the error. With the preload, Node has already loaded what it
  // would have called the replacement for.
  if (!bare.stderr.includes('own death') && found.stderr.includes('own death')) {
    assert.deepEqual([found.code, found.signal], [1, null], name);
    return 'not its own';
  }
  if (!expected.stderr.includes(fields)) found.stderr = found.stderr.replace(fields, '');
  assert.deepEqual(comparable(found), comparable(expected), `${name}: ${ownLines.join(' / ')}`);
  assert.ok(ownLines.length <= 1, `${name}: ${ownLines.join(' / ')}`);
  if (!bare.stderr.includes('own death')) return 'not its own';
  const [bundle] = bundlesIn(dir).filter((one) => one.endsWith('.agentdump'));
  if (bundle === undefined) {
    assert.equal(ownLines.length, 1, `${name}: no bundle, and no word why`);
    return 'refused';
  }
  const reader = openBundle(join(dir, 'dumps', bundle));
  t.after(() => reader.close());
  const error = reader.readJson<{ error?: { message?: string } }>('error.json')?.error;
  assert.ok(
    error?.message !== undefined || reader.gaps.some(({ part }) => part === 'error.json'),
    `${name}: no error, and no gap that says why`,
  );
  return 'written';
}

/**
 * Fields of the error. Node 24 prints them if it can load its inspector of values, which the program's
 * Function.prototype.call may prevent; with the preload it is already loaded.
 */
const fields = " {\n  code: 'E_OWN'\n}";

/**
 * V8 looks for the property that holds a function when the stack's text is made, which is while the capture shields
 * `process.reallyExit`: a function that the program has put there is told without that name.
 */
const shieldedName = / \[as reallyExit\]/g;

function comparable(outcome: { stderr: string }): object {
  const stderr = outcome.stderr.replace(/agentdump-test-\w+/g, 'TMP').replace(shieldedName, '');
  return { ...outcome, stderr };
}

/** Kinds of work of fixtures/programs/host/works-on.cjs. */
export const works = ['logs', 'http', 'child', 'listeners', 'fetch'] as const;

/**
 * Runs a program that lives on after it has replaced a part of its world, bare and with the preload, and compares the two
 * lives. `not its own`: bare, too, it did not come to its end, because Node or the program called the replacement.
 */
export async function liveInItsWorld(
  t: TestContext,
  node: NodeBinary,
  args: readonly string[],
): Promise<'lives' | 'not its own'> {
  const victim = { file: 'host/works-on.cjs', args: [...args], bundles: [] };
  const [bareDir, dir] = [temporaryFolder(t), temporaryFolder(t)];
  const [bare, loaded] = await Promise.all([
    runVictim(node, victim, { preload: false, dir: bareDir }),
    runVictim(node, victim, { preload: true, dir }),
  ]);
  const name = args.join(' ');
  if (bare.code !== ownEnd) {
    // What the preload has loaded Node does not load again; how it dies of the replacement may then differ in its text.
    assert.deepEqual([loaded.code, loaded.signal], [bare.code, bare.signal], name);
    return 'not its own';
  }
  const { ownLines, ...found } = loaded;
  const { ownLines: _, ...expected } = bare;
  assert.deepEqual(comparable(found), comparable(expected), `${name}: ${ownLines.join(' / ')}`);
  const bundles = bundlesIn(dir).filter((one) => one.endsWith('.agentdump'));
  // Two where a replaced process.reallyExit throws: of the exit, and of the error that ended the process instead.
  assert.ok(bundles.length > 0, `${name}: no bundle: ${ownLines.join(' / ')}`);
  return 'lives';
}

/** The exit code with which works-on.cjs ends. */
const ownEnd = 3;
