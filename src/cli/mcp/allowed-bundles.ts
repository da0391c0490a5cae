/**
 * The bundles and cores that may be read: only those in the folders that the server was started with, regardless of paths,
 * links or `..` in a request. Caches the latest accounts, because an assistant asks many questions about one bundle.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { type ListedBundle, listBundles } from '../../bundle/finished/list.ts';
import { type BundleReader, openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import type { Fleet } from '../../workbench/fleet/fleet.ts';
import { sourceKind } from '../commands/heap/source-kind.ts';
import type { Keys } from '../options/bundle-options.ts';

const mostAccounts = 4;

export class AllowedBundles {
  readonly roots: readonly string[];
  /** The store, if there is one. */
  readonly fleet: Fleet | undefined;
  readonly #keys: Keys | undefined;
  readonly #accounts = new Map<string, Account>();

  constructor(roots: readonly string[], keys?: Keys, fleet?: Fleet) {
    this.fleet = fleet;
    this.roots = roots.map((root) => resolve(root));
    this.#keys = keys;
  }

  /** Of all folders, the newest first. */
  list(): ListedBundle[] {
    return this.roots
      .flatMap((root) => listBundles(root))
      .filter(({ path }) => this.#isWithin(path))
      .sort((a, b) => (a.at < b.at ? 1 : -1));
  }

  /** `latest`, a name, the first digits of an id, or a path within the folders. Throws `not-found`. */
  find(wanted: string): string {
    const bundles = this.list();
    const found =
      wanted === 'latest'
        ? bundles.slice(0, 1)
        : bundles.filter(
            ({ name, path, shortId }) =>
              name === wanted ||
              path === resolve(wanted) ||
              (/^[0-9a-f]{4,16}$/.test(wanted) && startsAlike(shortId, wanted)),
          );
    const [one, other] = found;
    if (one && !other) return one.path;
    throw new AgentdumpError('not-found', notFoundText(wanted, other !== undefined, bundles.length), {
      name: wanted,
      bundles: bundles.length,
    });
  }

  /** A core in one of the folders, by its name or path. Throws `not-found`. */
  findCore(wanted: string): string {
    const cores = this.roots.flatMap((root) => filesOf(root)).filter((path) => this.#isWithin(path));
    const found = cores.find((path) => basename(path) === wanted || path === resolve(wanted));
    if (found !== undefined && sourceKind(found) === 'core') return found;
    const known = cores.filter((path) => sourceKind(path) === 'core').map((path) => basename(path));
    const words = known.length > 0 ? `there are ${known.join(', ')}` : 'none lies in the folders';
    throw new AgentdumpError('not-found', `no core ${wanted} is within reach: ${words}`, {
      name: wanted,
      cores: known.length,
    });
  }

  open(path: string): BundleReader {
    return openBundle(path, this.#keys);
  }

  /** Calls `read` with the bundle open. */
  async with<Result>(
    wanted: string,
    read: (bundle: BundleReader) => Result | Promise<Result>,
  ): Promise<Result> {
    const bundle = this.open(this.find(wanted));
    try {
      return await read(bundle);
    } finally {
      bundle.close();
    }
  }

  async account(wanted: string): Promise<Account> {
    const path = this.find(wanted);
    // A bundle that was not sealed may have grown since.
    const key = `${path}\n${statSync(path).mtimeMs}`;
    const known = this.#accounts.get(key);
    if (known) return known;
    const account = await this.with(path, (bundle) => analyzeBundle(bundle, { contextLines: 4 }));
    this.#accounts.set(key, account);
    for (const old of [...this.#accounts.keys()].slice(0, -mostAccounts)) this.#accounts.delete(old);
    return account;
  }

  /** Links are resolved first: one in a folder of bundles may point anywhere. */
  #isWithin(path: string): boolean {
    try {
      const real = realpathSync(path);
      return this.roots.some((root) => real.startsWith(join(realpathSync(root), sep)));
    } catch {
      return false;
    }
  }
}

function filesOf(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(root, entry.name));
  } catch {
    return [];
  }
}

const startsAlike = (shortId: string, wanted: string) =>
  shortId !== '' && (shortId.startsWith(wanted) || wanted.startsWith(shortId));

function notFoundText(wanted: string, isAmbiguous: boolean, count: number): string {
  if (isAmbiguous) return `more than one bundle matches ${wanted}: give more digits of its id`;
  return `no bundle ${wanted} among the ${count} within reach: list_bundles names them`;
}
