/**
 * How well the store groups the deaths of the third set (test/store/grouping/third-set.ts): pair precision and recall. `npm run
 * bench:grouping-third [folder]` keeps the bundles in the folder and reuses those that exist.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../../src/model/account.ts';
import { groupByStore } from '../store/grouping/group-by-store.ts';
import { type Labelled, scorePairs } from '../store/grouping/score.ts';
import { buildThirdSet, dieOfThird, thirdFaults, thirdVariants } from '../store/grouping/third-set.ts';
import { accountOf } from '../support/victims/run-account.ts';

const [kept] = process.argv.slice(2);
const folder = kept ?? mkdtempSync(join(tmpdir(), 'agentdump-grouping-'));
const hasMap = new Set(['written', 'shifted', 'minified', 'terser']);

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

await groupByStore(deaths, 'fleet', ({ fault, variant }) => fault + variant);
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
