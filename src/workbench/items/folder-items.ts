/**
 * The bundles, heap snapshots and cores of a folder. A request for one of them reads that one only: the names are read again
 * when the folder has changed, and what a finished thing says is kept until its file changes.
 */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeBundle, dumpFolderOf, isListedBundle } from '../../bundle/finished/list.ts';
import { manifestName } from '../../bundle/layout/bundle.ts';
import { readBundleName } from '../../bundle/write/bundle-name.ts';
import { AgentdumpError } from '../../errors.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import { coreItem, heapItem, type Item, isCore, listedItem, snapshotName } from './items.ts';

/** Longer than the steps of a file system's clock: a change within them may not change the time again. */
const settledMs = 5_000;

/** By the usual names of core_pattern and of the collectors; then by their first bytes. */
const coreName = /^core([._-]|$)|[._]core$/;

interface Known {
  stamp: string;
  item: Item | undefined;
}

export class FolderItems {
  readonly folder: string;
  readonly #onRead: (name: string) => void;
  /** What changes when a name is added or removed; empty if it has to be looked at again. */
  #namesStamp = '';
  /** Names, by our ids. */
  #names = new Map<string, { name: string; dir: string }>();
  readonly #known = new Map<string, Known>();

  /**
   * @param onRead called with the name of each thing that is read. Throws `not-found` if there is no such folder.
   */
  constructor(folder: string, onRead: (name: string) => void = () => {}) {
    if (!existsSync(folder))
      throw new AgentdumpError('not-found', `there is no folder ${folder}`, { path: folder });
    this.folder = folder;
    this.#onRead = onRead;
  }

  /** Newest first. */
  list(): Item[] {
    this.#follow();
    return [...this.#names.keys()].flatMap((id) => this.#read(id) ?? []).sort(newestFirst);
  }

  find(id: string): Item | undefined {
    this.#follow();
    return this.#read(id);
  }

  #read(id: string): Item | undefined {
    const named = this.#names.get(id);
    if (!named) return undefined;
    const path = join(named.dir, named.name);
    const stamp = stampOf(path);
    const known = this.#known.get(id);
    if (known && known.stamp === stamp) return known.item;
    this.#onRead(named.name);
    const item = readItem(named.dir, named.name, id);
    if (stamp !== undefined && isFinal(named.name, item)) this.#known.set(id, { stamp, item });
    else this.#known.delete(id);
    return item;
  }

  #follow(): void {
    const bundles = dumpFolderOf(this.folder);
    const dirs = bundles === this.folder ? [bundles] : [bundles, this.folder];
    const times = dirs.map((dir) => statSync(dir).mtimeMs);
    const stamp = `${bundles} ${times.join(' ')}`;
    if (stamp === this.#namesStamp) return;
    const names = new Map<string, { name: string; dir: string }>();
    for (const dir of dirs)
      for (const name of readdirSync(dir))
        if (dir === bundles ? mayBeItem(name, dir === this.folder) : mayBeFile(name))
          names.set(encodeURIComponent(name), { name, dir });
    this.#names = names;
    this.#namesStamp = Date.now() - Math.max(...times) > settledMs ? stamp : '';
    for (const id of this.#known.keys()) if (!names.has(id)) this.#known.delete(id);
  }
}

const mayBeFile = (name: string): boolean => snapshotName.test(name) || coreName.test(name);

/** A report of `agentdump ci` has its bundles in a folder of their own, without other files of ours. */
const mayBeItem = (name: string, withFiles: boolean): boolean =>
  readBundleName(name) !== undefined || (withFiles && mayBeFile(name));

/** Undefined for what is something else after all, or gone. */
function readItem(dir: string, name: string, id: string): Item | undefined {
  const path = join(dir, name);
  if (readBundleName(name))
    return isListedBundle(dir, name)
      ? listedItem(describeBundle(dir, name, { withErrors: true }))
      : undefined;
  if (!isReadableFile(path)) return undefined;
  if (snapshotName.test(name)) return heapItem(path, escapeLine(name), id);
  return isCore(path) ? coreItem(path, id) : undefined;
}

/** A bundle that is still being written grows without a change of its folder. */
const isFinal = (name: string, item: Item | undefined): boolean =>
  !readBundleName(name) || ['sealed', 'packed', 'encrypted'].includes(item?.row.state ?? '');

/** Undefined for what is gone or has just changed: the next change may carry the same time. */
function stampOf(path: string): string | undefined {
  const own = statSync(path, { throwIfNoEntry: false });
  const manifest = own?.isDirectory() && statSync(join(path, manifestName), { throwIfNoEntry: false });
  const stats = [own, manifest || undefined].filter((stat) => stat !== undefined);
  if (stats.length === 0 || stats.some(({ ctimeMs }) => Date.now() - ctimeMs < settledMs)) return undefined;
  return stats.map(({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`).join(', ');
}

/** Not what is gone by now, a broken link, or a pipe, whose opening would wait for its writer. */
function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function newestFirst(a: Item, b: Item): number {
  const [at = '', other = ''] = [a.row.at, b.row.at];
  if (at === other) return a.row.name < b.row.name ? 1 : -1;
  return at < other ? 1 : -1;
}
