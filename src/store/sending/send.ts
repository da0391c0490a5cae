/**
 * Adds a sealed bundle to the store, once. The blob is stored before the index refers to it, so that nothing is lost if the
 * sender is killed in between: the next attempt finds the death missing and adds it. A bundle that is already there is a
 * success.
 */
import { copyFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { packOpenBundle } from '../../bundle/finished/pack.ts';
import type { ProgramOf } from '../../bundle/keep/starts.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { type BundleReader, openBundle, openSmallBundle } from '../../bundle/read/reader.ts';
import { unwritable } from '../../bundle/write/safe-folder.ts';
import { failureCode } from '../../bundle/write/system.ts';
import type { SendOutcome, SentBundle } from '../../model/fleet/issue.ts';
import { mostFailures } from '../fleet-store.ts';
import { type Death, deathOf, sealedDeathOf } from '../grouping/death.ts';
import { addDeath, findDeath } from '../index/add-death.ts';
import { removeDeath } from '../index/remove-death.ts';
import type { Store } from '../open-store.ts';
import {
  factsOf,
  hashOf,
  isEncrypted,
  judge,
  mostBundleBytes,
  Refusal,
  requireWhole,
  sessionOf,
} from './examine.ts';

export interface SendOptions {
  keys?: Keys;
  /** A larger bundle is refused. */
  mostBytes?: number;
  programOf?: ProgramOf;
}

/** Throws only for problems of the store itself: `unwritable`, `held`. */
export async function sendBundle(store: Store, path: string, options: SendOptions = {}): Promise<SentBundle> {
  try {
    const limit = options.mostBytes ?? mostBundleBytes;
    const file = isEncrypted(path, limit);
    const outcome = await (file ? sendEncrypted(store, path, options) : sendClear(store, path, options));
    return { path, ...outcome };
  } catch (error) {
    if (error instanceof Refusal) return { path, outcome: 'refused', because: error.message };
    throw error;
  }
}

const mostAtOnce = 16;
/** Larger ones are sent alone, because each may take its size in memory several times. */
const smallBytes = 1024 * 1024;

/**
 * Many bundles, in their order. Small ones are sent together, so that the index is asked about many at a time. Throws like
 * `sendBundle`, after `onSent` was told of all that were sent: up to three at which the store fails do not keep the next ones
 * from it. At the fourth failure it is left alone until the next sender.
 */
export async function sendBundles(
  store: Store,
  paths: readonly string[],
  options: SendOptions & { onSent?: (sent: SentBundle) => void } = {},
): Promise<SentBundle[]> {
  const sent: SentBundle[] = [];
  const failures: unknown[] = [];
  for (let begin = 0; begin < paths.length && failures.length <= mostFailures; ) {
    const rest = paths.slice(begin, begin + mostAtOnce);
    const firstLarge = rest.findIndex((path) => !isSmall(path));
    const group = firstLarge < 0 ? rest : rest.slice(0, Math.max(1, firstLarge));
    const results = await Promise.allSettled(group.map((path) => sendBundle(store, path, options)));
    for (const result of results)
      if (result.status === 'rejected') failures.push(result.reason);
      else {
        sent.push(result.value);
        options.onSent?.(result.value);
      }
    begin += group.length;
  }
  if (failures.length > 0) throw failures[0];
  return sent;
}

function isSmall(path: string): boolean {
  try {
    const sizeOf = (file: string) => statSync(file).size;
    if (!statSync(path).isDirectory()) return sizeOf(path) < smallBytes;
    const sizes = readdirSync(path).map((name) => sizeOf(join(path, name)));
    return sizes.reduce((sum, size) => sum + size, 0) < smallBytes;
  } catch {
    return false;
  }
}

async function sendClear(
  store: Store,
  path: string,
  { mostBytes = mostBundleBytes, programOf }: SendOptions,
): Promise<SendOutcome> {
  const bundle = await judge(() => (isSmall(path) ? openSmallBundle(path) : openBundle(path)));
  try {
    const digest = await judge(() => requireWhole(bundle, mostBytes));
    const startedAs = programOf?.({ name: basename(path), session: sessionOf(bundle) });
    return await inTurn(store, bundle.id, () => storeClear(store, path, bundle, { digest, startedAs }));
  } finally {
    bundle.close();
  }
}

async function storeClear(
  store: Store,
  path: string,
  bundle: BundleReader,
  { digest, startedAs }: { digest: string; startedAs: string | undefined },
): Promise<SendOutcome> {
  const known = await findKnown(store, bundle.id, digest);
  if (known) return known;
  const account = await judge(() => analyzeBundle(bundle));
  const blob = blobOf(bundle.id, digest);
  const draft = store.blobs.draft(blob);
  try {
    if (bundle.packed) copy(path, draft);
    else await judge(() => packOpenBundle(bundle, draft));
    const { size } = statSync(draft);
    const stored = { bundle: bundle.id, digest, blob, bytes: size };
    const death = await judge(() => deathOf(account, stored, factsOf(bundle, startedAs), Date.now()));
    return await keep(store, { draft, death });
  } finally {
    rmSync(draft, { force: true });
  }
}

const turns = new WeakMap<Store, Map<string, Promise<unknown>>>();

/** Bundles with one id one after the other: the second is there then, or is another one and refused. */
export async function inTurn(
  store: Store,
  bundle: string,
  work: () => Promise<SendOutcome>,
): Promise<SendOutcome> {
  const ofStore = turns.get(store) ?? new Map<string, Promise<unknown>>();
  turns.set(store, ofStore);
  const before = ofStore.get(bundle);
  const mine = before ? before.then(work, work) : work();
  ofStore.set(bundle, mine);
  try {
    return await mine;
  } finally {
    if (ofStore.get(bundle) === mine) ofStore.delete(bundle);
  }
}

/**
 * With the manifest's SHA-256, so that of two bundles with one id that two processes add at once neither replaces the other's
 * blob.
 */
export const blobOf = (bundle: string, digest: string): string =>
  `${bundle}-${digest.slice(0, 16)}.agentdump.zip`;

/** For a file that was not opened. @param digest its SHA-256. */
export function namesOfEncrypted(digest: string): { bundle: string; blob: string } {
  const bundle = `age-${digest.slice(0, 32)}`;
  return { bundle, blob: `${bundle}.agentdump.zip.age` };
}

/** Stored as it is. With a key it is grouped by its account, without one by its name. */
async function sendEncrypted(
  store: Store,
  path: string,
  { keys, mostBytes = mostBundleBytes, programOf }: SendOptions,
): Promise<SendOutcome> {
  const draft = store.blobs.draft('encrypted');
  try {
    copy(path, draft);
    const digest = await judge(() => hashOf(draft));
    const bytes = statSync(draft).size;
    const { bundle: unopened, blob } = namesOfEncrypted(digest);
    const known = await findDeath(store.index, { blob });
    if (known && (known.bundle !== unopened || !keys))
      return { outcome: 'there', bundle: known.bundle, issue: known.issue };
    const stored = { digest, blob, bytes };
    const name = basename(path);
    if (!keys) {
      const startedAs = programOf?.({ name, session: undefined });
      const death = sealedDeathOf(name, { ...stored, bundle: unopened }, Date.now(), startedAs);
      return await keep(store, { draft, death });
    }
    const bundle = await judge(() => openBundle(path, keys));
    try {
      await judge(() => requireWhole(bundle, mostBytes));
      return await inTurn(store, bundle.id, async () => {
        const there = await findKnown(store, bundle.id, undefined);
        if (there) {
          if (known) await store.index.transaction((query) => removeDeath(query, unopened));
          return there;
        }
        const account = await judge(() => analyzeBundle(bundle));
        const opened = { ...stored, bundle: bundle.id };
        const startedAs = programOf?.({ name, session: sessionOf(bundle) });
        const death = await judge(() => deathOf(account, opened, factsOf(bundle, startedAs), Date.now()));
        return await keep(store, { draft, death, insteadOf: unopened });
      });
    } finally {
      bundle.close();
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * `there` if the store has it. @param digest of the manifest, to detect another bundle with the same id; undefined if it was sent
 * encrypted. @throws Refusal for another one.
 */
export async function findKnown(
  { index }: Store,
  bundle: string,
  digest: string | undefined,
): Promise<SendOutcome | undefined> {
  const known = await findDeath(index, { bundle });
  if (!known) return undefined;
  const isOther = digest !== undefined && known.digest !== digest;
  if (isOther && !(await isStoredEncrypted(index, bundle)))
    throw new Refusal(`the store has another bundle with its id ${bundle}`);
  return { outcome: 'there', bundle, issue: known.issue };
}

async function isStoredEncrypted(index: Store['index'], bundle: string): Promise<boolean> {
  const text = "select bundle from agentdump_deaths where bundle = $1 and blob like '%.age'";
  return (await index.query(text, [bundle])).length > 0;
}

interface Taken {
  draft: string;
  death: Death;
  insteadOf?: string;
}

/** Stores the blob, then the death. Throws like `findKnown`. */
export async function keep(store: Store, { draft, death, insteadOf }: Taken): Promise<SendOutcome> {
  await store.blobs.keep(death.blob, draft);
  const { bundle } = death;
  const issue = await addDeath(store.index, death, insteadOf);
  if (issue !== undefined) return { outcome: 'stored', bundle, issue };
  // Another process was faster.
  const known = await findDeath(store.index, { bundle });
  if (known && known.digest !== death.digest) await store.blobs.drop(death.blob);
  const digest = death.blob.endsWith('.age') ? undefined : death.digest;
  return (await findKnown(store, bundle, digest)) ?? { outcome: 'there', bundle };
}

function copy(path: string, draft: string): void {
  try {
    copyFileSync(path, draft);
  } catch (error) {
    throw unwritable(draft, failureCode(error), error);
  }
}
