/**
 * Makes thirty-six faults die in seventeen variants each, and compares the groups by signature with the known faults: pair
 * precision and recall, by variant. `npm run bench:grouping [folder]` keeps the bundles in the folder and reuses those that
 * exist.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import type { Account } from '../../src/model/account.ts';
import { faultSets, programOf, type Variant, variants } from '../store/grouping/faults.ts';
import { groupByStore } from '../store/grouping/group-by-store.ts';
import { type Labelled, scorePairs } from '../store/grouping/score.ts';
import { sentryGroup } from '../store/grouping/sentry.ts';
import { minifyByTerser } from '../store/grouping/terser.ts';
import { findNode } from '../support/agents/agent-preload.ts';
import { accountOf } from '../support/victims/run-account.ts';
import { preload } from '../support/victims/run-victim.ts';

const kept = process.argv[2];
const folder = kept ?? mkdtempSync(join(tmpdir(), 'agentdump-grouping-'));

async function die(fault: string, variant: Variant): Promise<string | undefined> {
  const at = join(folder, `${fault}-${variants.indexOf(variant)}`);
  const dumps = join(at, 'dumps');
  if (!existsSync(dumps)) {
    for (const [name, text] of Object.entries(programOf(fault, variant).files)) {
      mkdirSync(dirname(join(at, 'src', name)), { recursive: true });
      writeFileSync(join(at, 'src', name), text);
    }
    let main = join(at, 'src', 'main.mjs');
    if (variant.build) {
      const outfile = join(at, 'app', 'bundle.mjs');
      const isMapped = variant.build === 'mapped';
      const isTerser = variant.minifier === 'terser';
      await build({
        entryPoints: [main],
        outfile,
        bundle: true,
        minify: !isTerser,
        platform: 'node',
        format: 'esm',
        sourcemap: isMapped ? 'linked' : false,
        logLevel: 'silent',
      });
      if (isTerser) await minifyByTerser(outfile, isMapped);
      writeFileSync(join(at, 'app', 'package.json'), '{"name":"shop","version":"1.0.0","type":"module"}');
      main = outfile;
    }
    const node = findNode(variant.node);
    if (!node) return undefined;
    const env = { PATH: process.env['PATH'] ?? '', HOME: at, AGENTDUMP_DIR: dumps, AGENTDUMP_HEAP: 'off' };
    const child = spawn(node, ['--require', preload, main], { cwd: dirname(main), stdio: 'ignore', env });
    await new Promise((resolve) => child.on('close', resolve));
  }
  if (!existsSync(dumps)) return undefined;
  return readdirSync(dumps)
    .filter((name) => name.endsWith('.agentdump'))
    .map((name) => join(dumps, name))[0];
}

interface Death extends Labelled {
  set: keyof typeof faultSets;
  parts: string[];
  sentry: string;
  account: Account;
}

const deaths: Death[] = [];
for (const set of ['first', 'second'] as const)
  for (const fault of faultSets[set])
    for (const variant of variants) {
      const path = await die(fault, variant);
      if (path === undefined) {
        console.log(`no bundle: ${fault}, ${variant.name}`);
        continue;
      }
      const account = await accountOf(path);
      const { signature } = account;
      deaths.push({
        set,
        fault,
        variant: variant.name,
        group: signature?.id ?? 'none',
        parts: signature?.parts ?? [],
        sentry: sentryGroup(account),
        account,
      });
    }
await groupByStore(deaths, 'shop', (_, at) => `order ${at}`);
if (kept === undefined) rmSync(folder, { recursive: true, force: true });

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const told = (name: string, some: readonly Labelled[]): void => {
  const { precision, recall, pairs } = scorePairs(some);
  console.log(
    `${name.padEnd(40)} precision ${percent(precision)}, recall ${percent(recall)} of ${pairs} pairs`,
  );
};
console.log(`${deaths.length} deaths of ${faultSets.first.length + faultSets.second.length} faults`);
const isMapped = ({ variant }: Labelled) => !variant.endsWith('no map');
for (const [name, some] of [
  ['first set', deaths.filter(({ set }) => set === 'first')],
  ['second set', deaths.filter(({ set }) => set === 'second')],
  ['both', deaths],
] as const) {
  const asSentry = some.map((death) => ({ ...death, group: death.sentry }));
  told(name, some);
  told(`${name}, by Sentry's rules`, asSentry);
  told(`${name}, no builds without a map`, some.filter(isMapped));
  told(`${name}, no builds without a map, Sentry`, asSentry.filter(isMapped));
}
for (const { name } of variants.slice(1))
  told(
    `as written and ${name}`,
    deaths.filter(({ variant }) => [name, 'as written'].includes(variant)),
  );
if (process.env['AGENTDUMP_TEST_MATRIX'] === 'full')
  for (const { fault, variant, group, parts } of deaths)
    console.log(`${fault} | ${variant} | ${group} | ${parts.join(' ; ')}`);
