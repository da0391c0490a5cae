/**
 * What was opened: a single thing, or a folder. A page refers to them by our ids, which are looked up here; a path never
 * comes from a page. The bundles of a folder are listed anew for each request.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { headBytes, isPacked } from '../../analysis/core/input/packing.ts';
import { findBundle, type ListedBundle, listBundles } from '../../bundle/finished/list.ts';
import { readBundleName } from '../../bundle/write/bundle-name.ts';
import { AgentdumpError } from '../../errors.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import { isFleetPlace, isStoreFolder, nameOfStore } from '../../store/places.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { ItemRow } from '../protocol.ts';

export interface Item {
  row: ItemRow;
  path: string;
}

export interface Targets {
  /** Undefined if a single thing was opened. */
  folder?: string;
  /** Newest first. */
  list(): Item[];
  /** Throws what the store throws, if one was opened. */
  find(id: string): Item | undefined | Promise<Item | undefined>;
  /** Set if a store was opened. */
  fleet?: Fleet;
}

/**
 * @param target a path, a store in PostgreSQL, or a name or id of a bundle in `dir`; default: the folder itself. Throws
 * `not-found`.
 */
export function findTargets(target: string | undefined, dir: string): Targets {
  if (target === undefined) return folderTargets(dir);
  if (isFleetPlace(target) || isStoreFolder(target)) return storeTargets(target);
  const isThere = existsSync(target);
  if (isThere && isFolder(target)) return folderTargets(target);
  const item = isThere ? itemOfPath(target) : bundleItem(findBundle(target, dir));
  return { list: () => [item], find: (id) => (id === item.row.id ? item : undefined) };
}

function isFolder(path: string): boolean {
  return (
    statSync(path).isDirectory() &&
    readBundleName(basename(resolve(path))) === undefined &&
    !isBareBundle(path)
  );
}

/** A bundle's folder that was renamed. */
const isBareBundle = (path: string): boolean => existsSync(resolve(path, 'manifest.json'));

function folderTargets(folder: string): Targets {
  if (!existsSync(folder))
    throw new AgentdumpError('not-found', `there is no folder ${folder}`, { path: folder });
  const items = (withErrors: boolean) =>
    [...listBundles(folder, { withErrors }).map(listedItem), ...snapshotsIn(folder), ...coresIn(folder)].sort(
      newestFirst,
    );
  return {
    folder,
    list: () => items(true),
    find: (id) => items(false).find(({ row }) => row.id === id),
  };
}

/** Bundles are identified by their ids, as in the store's index. */
function storeTargets(place: string): Targets {
  const fleet = new Fleet(place, nameOfStore(place));
  const find = async (id: string): Promise<Item | undefined> => {
    const found = await fleet.findBundle(id);
    if (!found) return undefined;
    const { name, at, issue, path } = found;
    return { row: { id, kind: 'bundle', name: escapeLine(name), at, issue }, path };
  };
  return { list: () => [], find, fleet };
}

const snapshotName = /\.heapsnapshot(\.gz)?$/;

function snapshotsIn(folder: string): Item[] {
  return readdirSync(folder)
    .filter((name) => snapshotName.test(name) && isReadableFile(join(folder, name)))
    .map((name) => heapItem(join(folder, name), escapeLine(name), encodeURIComponent(name)));
}

/** By the usual names of core_pattern and of the collectors, and by their first bytes. */
const coreName = /^core([._-]|$)|[._]core$/;

function coresIn(folder: string): Item[] {
  return readdirSync(folder)
    .filter((name) => coreName.test(name) && isReadableFile(join(folder, name)) && isCore(join(folder, name)))
    .map((name) => coreItem(join(folder, name), encodeURIComponent(name)));
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

function itemOfPath(path: string): Item {
  if (isSnapshot(path)) return heapItem(path, nameOf(path), 'heap');
  if (isCore(path)) return coreItem(path, 'core');
  return bundleItem(path);
}

function coreItem(path: string, id: string): Item {
  const { size, mtime } = statSync(path);
  return { row: { id, kind: 'core', name: nameOf(path), at: mtime.toISOString(), bytes: size }, path };
}

function heapItem(path: string, name: string, id: string): Item {
  const { size, mtime } = statSync(path);
  return { row: { id, kind: 'heap', name, at: mtime.toISOString(), bytes: size }, path };
}

const bundleItem = (path: string): Item => ({
  row: { id: 'bundle', kind: 'bundle', name: nameOf(path) },
  path,
});
const nameOf = (path: string): string => escapeLine(basename(resolve(path)));

/**
 * The id is derived from the name, so that it does not change when bundles are added. Names may contain characters with a
 * meaning in URLs.
 */
function listedItem({
  name,
  path,
  at,
  state,
  program,
  verdictKind,
  error,
  bytes,
  gaps,
  problem,
}: ListedBundle): Item {
  const row: ItemRow = {
    id: encodeURIComponent(name),
    kind: 'bundle',
    name: escapeLine(name),
    at,
    state,
    bytes,
    gaps,
  };
  if (program !== undefined) row.program = escapeLine(program);
  if (verdictKind !== undefined) row.verdictKind = escapeLine(verdictKind);
  if (error !== undefined) row.error = escapeLine(error);
  if (problem !== undefined) row.problem = escapeLine(problem);
  return { row, path };
}

/**
 * Compressed, a report of apport, or an ELF file of type core:
 * https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html.
 */
function isCore(path: string): boolean {
  const head = headOf(path, headBytes);
  if (isPacked(head)) return true;
  return head.length >= 18 && head.readUInt32BE(0) === 0x7f454c46 && head.readUInt16LE(16) === 4;
}

/** By its name, or by its first bytes. */
const isSnapshot = (path: string): boolean =>
  snapshotName.test(path) || /^\s*\{\s*"snapshot"/.test(headOf(path, 64).toString('latin1'));

/** Empty if it is no file. */
function headOf(path: string, bytes: number): Buffer {
  const head = Buffer.alloc(bytes);
  if (!statSync(path).isFile()) return head.subarray(0, 0);
  const file = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(file, head, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}
