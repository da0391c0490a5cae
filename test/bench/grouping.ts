/**
 * Makes thirty-six faults die in seventeen variants each, and compares the groups by signature with the known faults: pair
 * precision and recall, by variant. `npm run bench:grouping [folder]` keeps the bundles in the folder and reuses those that
 * exist.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { deathOf } from '../../src/store/grouping/death.ts';
import { addDeath, findDeath } from '../../src/store/index/add-death.ts';
import { openStore } from '../../src/store/open-store.ts';
import { faultSets, programOf, type Variant, variants } from '../store/grouping/faults.ts';
import { type Labelled, scorePairs } from '../store/grouping/score.ts';
import { sentryGroup } from '../store/grouping/sentry.ts';
import { findNode } from '../support/agents/agent-preload.ts';
import { preload } from '../support/victims/run-victim.ts';

const terser = createRequire(new URL('../bundlers/package.json', import.meta.url))('terser') as {
  minify(code: string, options: object): Promise<{ code?: string; map?: string }>;
};
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

/** Minifies esbuild's bundle, and continues its source map. */
async function minifyByTerser(outfile: string, isMapped: boolean): Promise<void> {
  const { code, map } = await terser.minify(readFileSync(outfile, 'utf8'), {
    module: true,
    toplevel: true,
    ...(isMapped && {
      sourceMap: { content: readFileSync(`${outfile}.map`, 'utf8'), url: 'bundle.mjs.map' },
    }),
  });
  writeFileSync(outfile, code ?? '');
  if (isMapped) writeFileSync(`${outfile}.map`, map ?? '');
}

async function accountOf(path: string): Promise<Account> {
  const bundle = openBundle(path);
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}

interface Death extends Labelled {
  set: keyof typeof faultSets;
  parts: string[];
  sentry: string;
  account: Account;
}

/** Grouped by the store, which gets the deaths in an order that is unrelated to their faults. */
async function groupByStore(some: readonly Death[]): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'agentdump-grouping-store-'));
  const { index, close } = await openStore(place);
  const orderOf = (at: number) => createHash('sha256').update(`order ${at}`).digest('hex');
  const order = some.map((_, at) => at).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const idOf = (at: number) => at.toString(16).padStart(16, '0');
  for (const at of order) {
    const death = some[at]!;
    const stored = { bundle: idOf(at), digest: '', blob: idOf(at), bytes: 0 };
    await addDeath(index, deathOf(death.account, stored, { program: 'shop', repeats: 0 }, Date.now()));
  }
  for (const [at, death] of some.entries())
    death.group = (await findDeath(index, { bundle: idOf(at) }))?.issue ?? 'none';
  await close();
  rmSync(place, { recursive: true, force: true });
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
await groupByStore(deaths);
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
