/** Adds an examined upload to the store, once. */
import { rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import type { SendOutcome } from '../../model/fleet/issue.ts';
import type { Death } from '../grouping/death.ts';
import { addDeaths, findDeath } from '../index/add-death.ts';
import type { Store } from '../open-store.ts';
import { markRemoved } from '../retention.ts';
import { Refusal } from '../sending/examine.ts';
import { findKnown, inTurn, keep, namesOfEncrypted } from '../sending/send.ts';
import type { Examined, Told } from './examine-upload.ts';
import type { Offer } from './protocol.ts';

/** What the store says to a bundle before it is uploaded; undefined if it wants it. */
export function findOffered(
  store: Store,
  { sha256, bundle, digest }: Offer,
): Promise<SendOutcome | undefined> {
  return orRefused(async (): Promise<SendOutcome | undefined> => {
    if (bundle !== undefined) return findKnown(store, bundle, digest);
    const known = await findDeath(store.index, { blob: namesOfEncrypted(sha256).blob });
    return known && { outcome: 'there', bundle: known.bundle, issue: known.issue };
  });
}

/** The caller removes the file. Throws only for problems of the store itself. */
export function admit(store: Store, path: string, examined: Examined): Promise<SendOutcome> {
  return orRefused(async () => {
    if ('refused' in examined) throw new Refusal(examined.refused);
    const { bundle } = examined.death;
    return inTurn(store, bundle, () => admitDeath(store, path, examined));
  });
}

async function admitDeath(store: Store, path: string, { death, unfit }: Told): Promise<SendOutcome> {
  const known = await findKnown(store, death.bundle, death.digest);
  if (known) return known;
  if (unfit !== undefined) return countOnly(store, death, unfit);
  const draft = store.blobs.draft(death.blob);
  try {
    await copyFile(path, draft);
    return await keep(store, { draft, death });
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The death is counted, and the bundle not kept: as if retention had removed it. */
async function countOnly(store: Store, death: Death, unfit: string): Promise<SendOutcome> {
  const { bundle } = death;
  const issue = await store.index.transaction(async (query) => {
    const issues = await addDeaths(query, [death]);
    await markRemoved(query, bundle);
    return issues.get(bundle);
  });
  if (issue === undefined)
    return (await findKnown(store, bundle, death.digest)) ?? { outcome: 'there', bundle };
  return { outcome: 'stored', bundle, issue, because: `counted without its bundle, ${unfit}` };
}

async function orRefused<Result>(work: () => Promise<Result>): Promise<Result | SendOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', because: error.message };
    throw error;
  }
}
