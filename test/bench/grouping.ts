/**
 * Lets eighteen faults die in eleven ways each, for real, and holds the groups that their signatures make against what was
 * said of them before: pair precision and recall, by variant. `npm run bench:grouping [folder]` keeps the bundles in the folder
 * and takes those that are there.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { faultNames, programOf, type Variant, variants } from '../store/grouping/faults.ts';
import { type Labelled, scorePairs } from '../store/grouping/score.ts';
import { findNode } from '../support/agent-preload.ts';
import { preload } from '../support/run-victim.ts';

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
      await build({
        entryPoints: [main],
        outfile,
        bundle: true,
        minify: true,
        platform: 'node',
        format: 'esm',
        sourcemap: variant.build === 'mapped' ? 'linked' : false,
      });
      writeFileSync(join(at, 'app', 'package.json'), '{"name":"shop","version":"1.0.0","type":"module"}');
      main = outfile;
    }
    const node = findNode(variant.node);
    if (!node) return undefined;
    const env = { PATH: process.env['PATH'] ?? '', HOME: at, AGENTDUMP_DIR: dumps, AGENTDUMP_HEAP: 'off' };
    const child = spawn(node, ['--require', preload, main], { cwd: dirname(main), stdio: 'ignore', env });
    await new Promise((resolve) => child.on('close', resolve));
  }
  return readdirSync(dumps)
    .filter((name) => name.endsWith('.agentdump'))
    .map((name) => join(dumps, name))[0];
}

async function accountOf(path: string): Promise<Account> {
  const bundle = openBundle(path);
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}

const deaths: (Labelled & { parts: string[] })[] = [];
for (const fault of faultNames)
  for (const variant of variants) {
    const path = await die(fault, variant);
    if (path === undefined) {
      console.log(`no bundle: ${fault}, ${variant.name}`);
      continue;
    }
    const { signature } = await accountOf(path);
    deaths.push({
      fault,
      variant: variant.name,
      group: signature?.id ?? 'none',
      parts: signature?.parts ?? [],
    });
  }
if (kept === undefined) rmSync(folder, { recursive: true, force: true });

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const told = (name: string, some: readonly Labelled[]): void => {
  const { precision, recall, pairs } = scorePairs(some);
  console.log(
    `${name.padEnd(40)} precision ${percent(precision)}, recall ${percent(recall)} of ${pairs} pairs`,
  );
};
console.log(`${deaths.length} deaths of ${faultNames.length} faults`);
told('all', deaths);
told(
  'without builds that have no map',
  deaths.filter(({ variant }) => variant !== 'minified, no map'),
);
for (const { name } of variants.slice(1))
  told(
    `as written and ${name}`,
    deaths.filter(({ variant }) => [name, 'as written'].includes(variant)),
  );
if (process.env['AGENTDUMP_TEST_MATRIX'] === 'full')
  for (const { fault, variant, parts } of deaths) console.log(`${fault} | ${variant} | ${parts.join(' ; ')}`);
