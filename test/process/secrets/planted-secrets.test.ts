/**
 * No secret reaches the disk: programs full of secrets die in every way of the table, and then every file below their folder
 * is searched for each secret in every encoding. By hand, a hundred deaths on each Node: `AGENTDUMP_TEST_PLANTED_RUNS=100
 * node test/support/run/run-tests.mjs --all planted`.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isWideRun, nodesInTurn, sampleOf, testNodes } from '../../support/run/test-nodes.ts';
import { findPlants, makePlants, type Plants } from '../../support/secrets/secret-plants.ts';
import { readTree } from '../../support/secrets/written-files.ts';
import {
  bundlesIn,
  type NodeBinary,
  preload,
  runVictim,
  temporaryFolder,
} from '../../support/victims/run-victim.ts';
import { type Victim, victimName, victims } from '../../support/victims/victims.ts';

const planter = fileURLToPath(new URL('../../support/secrets/planter.cjs', import.meta.url));
/** The only place that contains them in the clear, outside of the searched folders. */
const store = mkdtempSync(join(tmpdir(), 'agentdump-plants-'));
after(() => rmSync(store, { recursive: true }));

const modes = [
  'throw',
  'string',
  'reject',
  'plain',
  'aggregate',
  'handled',
  'exit',
  'snapshot',
  'worker',
  'child',
];
const planted: Victim[] = modes.map((mode) => ({
  file: 'throws/throw-planted.cjs',
  args: [mode],
  env: { AGENTDUMP_EXITS: 'all' },
  bundles: [],
}));
const withHeap = (victim: Victim): Victim => ({
  ...victim,
  env: { ...victim.env, AGENTDUMP_HEAP: 'always' },
});
const withLocals = (victim: Victim): Victim => ({
  ...victim,
  env: { ...victim.env, AGENTDUMP_LOCALS: 'uncaught' },
});
const cleanHeap = { AGENTDUMP_HEAP: 'always', AGENTDUMP_HEAP_STRINGS: 'clean' };
const [throwing = assert.fail('no mode')] = planted;
/** The test knows all strings of this victim, which has the most of them. */
const armed = [withHeap(withLocals(throwing)), { ...throwing, env: cleanHeap }];
const everyVictim = [...planted, ...armed, ...victims];

interface Found {
  leaks: string[];
  bundles: number;
  files: number;
  bytes: number;
}

async function runPlanted(node: NodeBinary, victim: Victim, seed: number, root: string): Promise<Found> {
  const plants = makePlants(seed);
  const dir = join(root, plants.folder);
  mkdirSync(dir);
  const outcome = await runVictim(
    node,
    { ...victim, args: [...(victim.args ?? []), ...plants.argv] },
    { preload: true, dir, env: { ...plants.env, ...victim.env, ...planterVariables(plants, seed) } },
  );
  const files = readTree(root);
  const ownLines = { path: 'our lines on stderr', text: outcome.ownLines.join('\n') };
  const leaks = findPlants([...files, ownLines], plants.secrets);
  const bytes = files.reduce((sum, { text }) => sum + text.length, 0);
  return { leaks, bundles: bundlesIn(dir).length, files: files.length, bytes };
}

function planterVariables({ program }: Plants, seed: number): Record<string, string> {
  const file = join(store, `${seed}.json`);
  writeFileSync(file, JSON.stringify(program));
  return { PLANTS: file, NODE_OPTIONS: `--require ${preload} --require ${planter}` };
}

const runs = Number(process.env['AGENTDUMP_TEST_PLANTED_RUNS'] ?? 0);
const firstSeed = Number(process.env['AGENTDUMP_TEST_SEED'] ?? 20_261_122);

for (const [n, node] of testNodes.entries())
  describe(node.name, { concurrency: 2 }, () => {
    // Each victim of the table once, on one Node or another; the planted ones on all Nodes that were asked for.
    const isOurs = (victim: Victim): boolean => planted.includes(victim) || armed.includes(victim);
    const mine = isWideRun
      ? everyVictim.filter((victim, i) => isOurs(victim) || i % testNodes.length === n)
      : [...sampleOf(planted, 6), ...sampleOf(armed, 3), ...sampleOf(victims, 20)];
    for (const [i, victim] of runs > 0 ? [] : mine.entries()) {
      if (isOurs(victim) && !nodesInTurn.includes(node)) continue;
      test(`${victimName(victim)}: no secret in any file`, async (t) => {
        const found = await runPlanted(node, victim, firstSeed + n * 1000 + i, temporaryFolder(t));
        assert.deepEqual(found.leaks, []);
        if (planted.includes(victim)) assert.ok(found.bundles > 0, 'no bundle: the test shows nothing');
      });
    }

    if (runs > 0)
      test(`${runs} deaths: no secret in any file`, async (t) => {
        const sum = { bundles: 0, files: 0, bytes: 0, secrets: 0 };
        for (let run = 0; run < runs; run++) {
          const victim = everyVictim[(run * 7 + n) % everyVictim.length] ?? assert.fail('no victim');
          const root = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
          const seed = firstSeed + 10_000 * (n + 1) + run;
          const found = await runPlanted(node, victim, seed, root);
          rmSync(root, { recursive: true, force: true });
          assert.deepEqual(found.leaks, [], `${victimName(victim)}, seed ${seed}`);
          sum.bundles += found.bundles;
          sum.files += found.files;
          sum.bytes += found.bytes;
          sum.secrets += makePlants(seed).secrets.size;
        }
        t.diagnostic(
          `${runs} deaths, ${sum.bundles} bundles, ${sum.files} files, ${(sum.bytes / 2 ** 20).toFixed(0)} MiB searched for ${sum.secrets} secrets`,
        );
        assert.ok(sum.bundles > runs / 2);
      });
  });

test('the search finds what is there, in each of its readings', () => {
  const { secrets } = makePlants(1);
  const all = [...secrets.values()];
  assert.ok(all.length >= 40, `${all.length} secrets`);
  for (const secret of all)
    for (const text of [
      secret,
      JSON.stringify(JSON.stringify({ a: secret })),
      Buffer.from(`xy${secret}`).toString('base64'),
      Buffer.from(secret).toString('hex'),
      encodeURIComponent(secret),
      Buffer.from(secret, 'utf16le').toString('latin1'),
      [...secret].reverse().join(''),
    ])
      assert.notDeepEqual(findPlants([{ path: 'x', text }], secrets), [], text);
});
