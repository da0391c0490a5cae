/**
 * How well the store groups the deaths of the third set (`fixtures/fleet`) or the fourth (`fixtures/depot`): pair precision
 * and recall. `npm run bench:grouping-third [folder]`, `bench:grouping-fourth [folder]` keep the bundles in the folder and
 * reuse those that exist. With `AGENTDUMP_TEST_MATRIX=full` it also prints what went wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../../src/model/account.ts';
import { buildFaultSet, dieOfFault, type FaultVariant, hasMap } from '../store/grouping/fault-set.ts';
import { fourthSet } from '../store/grouping/fourth-set.ts';
import { groupByStore } from '../store/grouping/group-by-store.ts';
import { type Labelled, scorePairs } from '../store/grouping/score.ts';
import { sentryGroup } from '../store/grouping/sentry.ts';
import { thirdSet } from '../store/grouping/third-set.ts';
import { accountOf } from '../support/victims/run-account.ts';

const [which, kept] = process.argv.slice(2);
const set = which === 'third' ? thirdSet : fourthSet;
const folder = kept ?? mkdtempSync(join(tmpdir(), 'agentdump-grouping-'));
/** At a time. */
const dying = 3;

interface Death extends Labelled {
  account: Account;
  isMapped: boolean;
}

await buildFaultSet(set, folder);
const wanted: [string, FaultVariant][] = set.faults.flatMap((fault) =>
  set.variantsOf(fault).map((variant) => [fault, variant] as [string, FaultVariant]),
);
const found: (Death | undefined)[] = [];
let next = 0;
await Promise.all(
  Array.from({ length: dying }, async () => {
    for (let at = next++; at < wanted.length; at = next++) {
      const [fault, variant] = wanted[at]!;
      const path = await dieOfFault(set, folder, fault, variant);
      if (path === undefined) console.log(`no bundle: ${fault}, ${variant.name}`);
      else
        found[at] = {
          ...{ fault, variant: variant.name, group: 'none', isMapped: hasMap(variant) },
          account: await accountOf(path),
        };
    }
  }),
);
const deaths = found.filter((death) => death !== undefined);
await groupByStore(deaths, set.name, ({ fault, variant }) => fault + variant);
if (kept === undefined) rmSync(folder, { recursive: true, force: true });

for (const [name, some] of [
  ['all', deaths],
  ['with a source map or unbundled', deaths.filter(({ isMapped }) => isMapped)],
] as const)
  for (const [rules, grouped] of [
    ['', some],
    [", by Sentry's rules", some.map((death) => ({ ...death, group: sentryGroup(death.account) }))],
  ] as const) {
    const { precision, recall, pairs } = scorePairs(grouped);
    const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
    console.log(
      `${name}${rules}: ${some.length} deaths, precision ${percent(precision)}, recall ${percent(recall)} of ${pairs} pairs`,
    );
  }
if (process.env['AGENTDUMP_TEST_MATRIX'] === 'full')
  for (const { fault, variant, group, account } of deaths)
    console.log([fault, variant, group, ...(account.signature?.parts ?? [])].join(' | '));
