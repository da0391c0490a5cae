/**
 * Adds a sealed bundle to the store, once. The bundle is untrusted until it is verified: if it is torn, altered, too large or
 * no bundle, it is refused with a reason. The blob is stored before the index refers to it, so that nothing is lost if the
 * sender is killed in between: the next attempt finds the death missing and adds it. A bundle that is already there is a
 * success.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { analyzeBundle } from '../analysis/analyze.ts';
import { packBundle } from '../bundle/finished/pack.ts';
import { verifyOpenBundle } from '../bundle/finished/verify.ts';
import { partNames } from '../bundle/layout/bundle.ts';
import { isAgeFile, type Keys } from '../bundle/read/age.ts';
import { type BundleReader, openBundle } from '../bundle/read/reader.ts';
import { openFileWindow } from '../bundle/read/window.ts';
import { unwritable } from '../bundle/write/safe-folder.ts';
import { failureCode } from '../bundle/write/system.ts';
import { AgentdumpError } from '../errors.ts';
import type { SentBundle } from '../model/fleet/issue.ts';
import { type BundleFacts, type Death, deathOf, sealedDeathOf } from './death.ts';
import { addDeath, findDeath } from './index/add-death.ts';
import { removeDeath } from './index/remove-death.ts';
import type { Store } from './open-store.ts';

export interface SendOptions {
  keys?: Keys;
  /** A larger bundle is refused. */
  mostBytes?: number;
}

export const mostBundleBytes = 2 * 1024 ** 3;

/** A reason in the bundle itself; never a problem of the store. */
class Refusal extends Error {}

/** Throws only for problems of the store itself: `unwritable`, `held`. */
export async function sendBundle(store: Store, path: string, options: SendOptions = {}): Promise<SentBundle> {
  try {
    const limit = options.mostBytes ?? mostBundleBytes;
    const file = isEncrypted(path, limit);
    return await (file ? sendEncrypted(store, path, options) : sendClear(store, path, limit));
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
 * `sendBundle`, after `onSent` was told of all that were sent.
 */
export async function sendBundles(
  store: Store,
  paths: readonly string[],
  options: SendOptions & { onSent?: (sent: SentBundle) => void } = {},
): Promise<SentBundle[]> {
  const sent: SentBundle[] = [];
  for (let begin = 0; begin < paths.length; ) {
    const rest = paths.slice(begin, begin + mostAtOnce);
    const firstLarge = rest.findIndex((path) => !isSmall(path));
    const group = firstLarge < 0 ? rest : rest.slice(0, Math.max(1, firstLarge));
    const results = await Promise.allSettled(group.map((path) => sendBundle(store, path, options)));
    for (const result of results)
      if (result.status === 'fulfilled') {
        sent.push(result.value);
        options.onSent?.(result.value);
      }
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    begin += group.length;
  }
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

/** Calls code that reads the bundle: whatever it throws becomes a refusal. */
async function judge<Result>(read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal || (error instanceof AgentdumpError && error.code === 'unwritable'))
      throw error;
    throw new Refusal(
      error instanceof AgentdumpError ? error.message : `it cannot be read: ${String(error)}`,
    );
  }
}

function isEncrypted(path: string, limit: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new Refusal(`there is nothing at ${path}`);
  if (!stat.isFile()) return false;
  requireSize(stat.size, limit);
  const window = openFileWindow(path);
  try {
    return isAgeFile(window);
  } finally {
    window.close();
  }
}

function requireSize(bytes: number, limit: number): void {
  if (bytes > limit) throw new Refusal(`it has ${bytes} bytes, more than the ${limit} that a store takes`);
}

async function sendClear(store: Store, path: string, limit: number): Promise<SentBundle> {
  const bundle = await judge(() => openBundle(path));
  try {
    const digest = await judge(() => requireWhole(bundle, limit));
    return await inTurn(store, bundle.id, () => storeClear(store, path, bundle, digest));
  } finally {
    bundle.close();
  }
}

async function storeClear(
  store: Store,
  path: string,
  bundle: BundleReader,
  digest: string,
): Promise<SentBundle> {
  const known = await findKnown(store, path, bundle.id, digest);
  if (known) return known;
  const account = await judge(() => analyzeBundle(bundle));
  const blob = `${bundle.id}.agentdump.zip`;
  const draft = store.blobs.draft(blob);
  try {
    if (bundle.packed) copy(path, draft);
    else await judge(() => packBundle(path, { output: draft }));
    const { size } = statSync(draft);
    const stored = { bundle: bundle.id, digest, blob, bytes: size };
    const death = deathOf(account, stored, factsOf(bundle), Date.now());
    return await keep(store, path, { draft, death });
  } finally {
    rmSync(draft, { force: true });
  }
}

const turns = new WeakMap<Store, Map<string, Promise<unknown>>>();

/** Bundles with one id one after the other: the second is there then, or is another one and refused. */
async function inTurn(store: Store, bundle: string, work: () => Promise<SentBundle>): Promise<SentBundle> {
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

/** Returns the digest of its manifest. */
function requireWhole(bundle: BundleReader, limit: number): string {
  let bytes = 0;
  for (const size of bundle.source.sizes.values()) bytes += size;
  requireSize(bytes, limit);
  if (!bundle.sealed) throw new Refusal('its writer did not come to the end: it has no seal');
  if (!/^[0-9a-f]{16}$/.test(bundle.id)) throw new Refusal('its id is none that agentdump gives');
  const { verdict, parts, extra, manifestSha256 } = verifyOpenBundle(bundle);
  if (verdict === 'whole' && manifestSha256 !== undefined) return manifestSha256;
  const fault = parts.find(({ problem }) => problem !== undefined);
  throw new Refusal(
    fault
      ? `it is not as it was sealed: ${fault.name}: ${fault.problem}`
      : `it has files that no seal names: ${extra[0]}`,
  );
}

export function factsOf(bundle: BundleReader): BundleFacts {
  const trigger = bundle.readJson<{ repeats?: unknown }>(partNames.trigger);
  return { program: bundle.head.program, repeats: trigger?.repeats };
}

/** Stored as it is. With a key it is grouped by its account, without one by its name. */
async function sendEncrypted(
  store: Store,
  path: string,
  { keys, mostBytes = mostBundleBytes }: SendOptions,
): Promise<SentBundle> {
  const draft = store.blobs.draft('encrypted');
  try {
    copy(path, draft);
    const digest = await judge(() => hashOf(draft));
    const bytes = statSync(draft).size;
    const unopened = `age-${digest.slice(0, 32)}`;
    const blob = `${unopened}.agentdump.zip.age`;
    const known = await findDeath(store.index, { blob });
    if (known && (known.bundle !== unopened || !keys))
      return { path, outcome: 'there', bundle: known.bundle, issue: known.issue };
    const stored = { digest, blob, bytes };
    if (!keys) {
      const death = sealedDeathOf(basename(path), { ...stored, bundle: unopened }, Date.now());
      return await keep(store, path, { draft, death });
    }
    const bundle = await judge(() => openBundle(path, keys));
    try {
      await judge(() => requireWhole(bundle, mostBytes));
      return await inTurn(store, bundle.id, async () => {
        const there = await findKnown(store, path, bundle.id, undefined);
        if (there) {
          if (known) await store.index.transaction((query) => removeDeath(query, unopened));
          return there;
        }
        const account = await judge(() => analyzeBundle(bundle));
        const death = deathOf(account, { ...stored, bundle: bundle.id }, factsOf(bundle), Date.now());
        return await keep(store, path, { draft, death, insteadOf: unopened });
      });
    } finally {
      bundle.close();
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** `digest`: of the manifest, to detect a different bundle with the same id; undefined if it was stored encrypted. */
async function findKnown(
  store: Store,
  path: string,
  bundle: string,
  digest: string | undefined,
): Promise<SentBundle | undefined> {
  const known = await findDeath(store.index, { bundle });
  if (!known) return undefined;
  const isClear = digest !== undefined && known.digest !== digest;
  if (isClear && !(await isStoredEncrypted(store, bundle)))
    throw new Refusal(`the store has another bundle with its id ${bundle}`);
  return { path, outcome: 'there', bundle, issue: known.issue };
}

async function isStoredEncrypted({ index }: Store, bundle: string): Promise<boolean> {
  const text = "select bundle from agentdump_deaths where bundle = $1 and blob like '%.age'";
  return (await index.query(text, [bundle])).length > 0;
}

interface Taken {
  draft: string;
  death: Death;
  insteadOf?: string;
}

async function keep(store: Store, path: string, { draft, death, insteadOf }: Taken): Promise<SentBundle> {
  await store.blobs.keep(death.blob, draft);
  const { bundle } = death;
  const issue = await addDeath(store.index, death, insteadOf);
  if (issue !== undefined) return { path, outcome: 'stored', bundle, issue };
  const known = await findDeath(store.index, { bundle });
  return { path, outcome: 'there', bundle, ...(known && { issue: known.issue }) };
}

function copy(path: string, draft: string): void {
  try {
    copyFileSync(path, draft);
  } catch (error) {
    throw unwritable(draft, failureCode(error), error);
  }
}

function hashOf(path: string): string {
  const window = openFileWindow(path);
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(1024 * 1024);
    for (let position = 0; position < window.size; ) {
      const count = window.read(chunk, position);
      if (count <= 0) break;
      hash.update(chunk.subarray(0, count));
      position += count;
    }
    return hash.digest('hex');
  } finally {
    window.close();
  }
}
