/**
 * A program that has replaced functions of Node's own modules, or the ways to get at these, dies as it would have died, and its
 * bundle is as complete as without.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { isWideRun, nodesInTurn, sampleOf } from '../../support/run/test-nodes.ts';
import { spawnUntil } from '../../support/victims/run-until-bundle.ts';
import {
  bundlesIn,
  type NodeBinary,
  preload,
  programs,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';

const file = 'host/builtins-replaced.cjs';
const replaced = [
  ...['load', 'require', 'builtin', 'cache'],
  ...[
    'crypto',
    'os',
    'path',
    'fs',
    'child_process',
    'worker_threads',
    'vm',
    'url',
    'events',
    'buffer',
    'util',
  ],
];
/** Without a debugger's session there is no list of scripts; without V8's figures no census. */
const partly: Record<string, readonly string[]> = {
  inspector: ['scripts.json', 'drift.json', 'sources/1.txt'],
  v8: ['memory.json', 'heap-census.json', 'scripts.json', 'drift.json', 'sources/1.txt'],
};
const hows = ['throws', 'undefined'];

function partsOf(t: TestContext, path: string): string[] {
  const reader = openBundle(path);
  t.after(() => reader.close());
  return reader.parts.map(({ name }) => name).sort();
}

/** The parts of the one bundle. */
async function dieOf(t: TestContext, node: NodeBinary, args: string[]): Promise<string[]> {
  const [bareDir, dir] = [temporaryFolder(t), temporaryFolder(t)];
  const victim = { file, args, bundles: [], env: { AGENTDUMP_EXITS: 'all' } };
  const [bare, loaded] = await Promise.all([
    runVictim(node, victim, { preload: false, dir: bareDir }),
    runVictim(node, victim, { preload: true, dir }),
  ]);
  assert.deepEqual([loaded.code, loaded.signal], [bare.code, bare.signal], args.join(' '));
  const [bundle, ...others] = bundlesIn(dir);
  assert.ok(bundle, `${args}: ${loaded.ownLines.join(' / ')}`);
  assert.match(bundle, /\.agentdump$/);
  assert.deepEqual(others, [], args.join(' '));
  return partsOf(t, join(dir, 'dumps', bundle));
}

for (const node of nodesInTurn)
  describe(node.name, () => {
    for (const death of isWideRun ? ['throw', 'exit'] : ['throw'])
      test(`${death}: every function, and every loader`, async (t) => {
        const usual = await dieOf(t, node, ['querystring', 'throws', death]);
        for (const what of sampleOf([...replaced, ...Object.keys(partly)], 2))
          for (const how of sampleOf(hows, 2)) {
            const found = new Set(await dieOf(t, node, [what, how, death]));
            const missing = usual.filter((part) => !found.has(part) && !partly[what]?.includes(part));
            assert.deepEqual(missing, [], `${what} ${how}`);
          }
      });

    // On Node 20 the stopped thread loads nothing without path: then the watchdog's own thread writes what it knows.
    test('a hang', async (t) => {
      const hang = async (what: string): Promise<string[]> => {
        const dumps = join(temporaryFolder(t), 'dumps');
        const words = ['--require', preload, join(programs, file), what, 'throws', 'hang'];
        const env = { AGENTDUMP_HANG_MS: '400' };
        const { child, bundle } = spawnUntil(node.path, words, dumps, env, /-event-loop-hang-/);
        t.after(() => child.kill('SIGKILL'));
        return partsOf(t, await bundle);
      };
      for (const what of isWideRun ? replaced : ['builtin', 'crypto', 'os'])
        assert.ok((await hang(what)).includes(what === 'path' ? 'threads.json' : 'environment.json'), what);
    });
  });
