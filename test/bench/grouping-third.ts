/**
 * How well the store groups the deaths of the third set (test/store/grouping/third-set.ts): pair precision and recall. `npm run
 * bench:grouping-third [folder]` keeps the bundles in the folder and reuses those that exist.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import type { Account } from '../../src/model/account.ts';
import { deathOf } from '../../src/store/grouping/death.ts';
import { addDeath, findDeath } from '../../src/store/index/add-death.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type Labelled, scorePairs } from '../store/grouping/score.ts';
import { buildThirdSet, dieOfThird, thirdFaults, thirdVariants } from '../store/grouping/third-set.ts';

const [kept] = process.argv.slice(2);
const folder = kept ?? mkdtempSync(join(tmpdir(), 'agentdump-grouping-'));
const hasMap = new Set(['written', 'shifted', 'minified', 'terser']);

async function accountOf(path: string): Promise<Account> {
  const bundle = openBundle(path);
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}

await buildThirdSet(folder);
const deaths: (Labelled & { account: Account; isMapped: boolean })[] = [];
for (const fault of thirdFaults)
  for (const variant of thirdVariants) {
    const path = await dieOfThird(folder, fault, variant);
    if (path === undefined) console.log(`no bundle: ${fault}, ${variant.name}`);
    else
      deaths.push({
        fault,
        variant: variant.name,
        group: 'none',
        account: await accountOf(path),
        isMapped: hasMap.has(variant.build),
      });
  }

// In an order that is unrelated to the faults.
const orderOf = ({ fault, variant }: Labelled) =>
  createHash('sha256')
    .update(fault + variant)
    .digest('hex');
const ordered = [...deaths].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
const place = mkdtempSync(join(tmpdir(), 'agentdump-grouping-store-'));
const { index, close } = await openStore(place);
const idOf = (at: number) => at.toString(16).padStart(16, '0');
for (const [at, { account }] of ordered.entries()) {
  const stored = { bundle: idOf(at), digest: '', blob: idOf(at), bytes: 0 };
  await addDeath(index, deathOf(account, stored, { program: 'fleet', repeats: 0 }, Date.now()));
}
for (const [at, death] of ordered.entries())
  death.group = (await findDeath(index, { bundle: idOf(at) }))?.issue ?? 'none';
await close();
rmSync(place, { recursive: true, force: true });
if (kept === undefined) rmSync(folder, { recursive: true, force: true });

for (const [name, some] of [
  ['all', deaths],
  ['with a source map or unbundled', deaths.filter(({ isMapped }) => isMapped)],
] as const) {
  const { precision, recall, pairs } = scorePairs(some);
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  console.log(
    `${name}: ${some.length} deaths, precision ${percent(precision)}, recall ${percent(recall)} of ${pairs} pairs`,
  );
}
