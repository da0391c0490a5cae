/**
 * Programs that use Node in ways of which the preload uses the same: sessions of the inspector, contexts, threads, channels,
 * hooks, execve. Each prints the same and ends the same as without us. One of every three is in the quick run.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

const onPrototype = 'fields of descriptors and options on Object.prototype';

/** By name in fixtures/programs/host/unusual-uses.cjs, with the exit code that Node gives it; null: it dies of a signal. */
const uses: [name: string, code: number | null][] = [
  // Node 20 aborted at the end of this one, when it found an accessor of ours.
  ['an inspector session of its own', 0],
  ['a debugger of its own that pauses at its death', 1],
  ['an open inspector', 0],
  ['nested domains', 7],
  ['a callback that captures exceptions', 1],
  ['code with a time limit', 1],
  ['a store that a context loses', 1],
  ['a worker without variables', 0],
  ['a cluster', 0],
  ['another program in its place', 0],
  ['hooks of its own for modules', 1],
  ['a throwing subscriber of a channel', 1],
  ['codes that listeners of the end change', 9],
  ['timers that keep nothing alive', 0],
  // Three handles of zlib were in the list, each with a line of 30 KB.
  ['a list of what keeps it running', 0],
  // With signal-exit 4 the program lived on.
  ['a signal handler that leaves below an emit of its own', null],
  // Node's report was given the proxy; V8's error about a syntax of its own was formatted.
  ['a thrown proxy whose traps tell', 1],
  // The error's `code`, `cause` and `errors` were read, and all that is enumerable in its properties.
  ['a thrown value whose getters tell', 1],
  // There was no bundle: "Cannot both specify accessors and a value". It is read below.
  [onPrototype, 1],
  // All that was on Object.prototype was away while the stack was formatted.
  ['stacks that need what is on Object.prototype', 1],
  // What was away could not be put back.
  ['a closed Object.prototype', 0],
  ['a formatter that tells', 1],
  ['members of process that throw', 1],
  ['no listeners at all', 1],
];

for (const node of nodesInTurn)
  describe(node.name, { concurrency: 2 }, () => {
    for (const [name, code] of sampleOf(uses, 3))
      test(name, async (t) => {
        const victim = { file: 'host/unusual-uses.cjs', args: [name], bundles: [] };
        const [bare, loaded] = await Promise.all(
          [false, true].map((preload) => runVictim(node, victim, { preload, dir: temporaryFolder(t) })),
        );
        assert.equal(bare?.code, code, bare?.stderr);
        if (name === onPrototype) assert.doesNotMatch(loaded?.ownLines.join() ?? '', /no bundle/);
        assert.deepEqual(comparable(loaded), comparable(bare));
      });
  });

function comparable(outcome: Awaited<ReturnType<typeof runVictim>> | undefined): object {
  const { ownLines: _, stderr = '', ...rest } = outcome ?? {};
  return { ...rest, stderr: stderr.replace(/\(node:\d+\)|ws:\/\/\S+/g, '') };
}
