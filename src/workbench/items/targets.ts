/**
 * What was opened: a single thing, or a folder. A page refers to them by our ids, which are looked up here; a path never
 * comes from a page.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { findBundle } from '../../bundle/finished/list.ts';
import { readBundleName } from '../../bundle/write/bundle-name.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import { isFleetPlace, isStoreFolder, nameOfStore } from '../../store/places.ts';
import { Fleet } from '../fleet/fleet.ts';
import { FolderItems } from './folder-items.ts';
import { bundleItem, coreItem, heapItem, type Item, isCore, isSnapshot, nameOf } from './items.ts';

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
  const items = new FolderItems(folder);
  return { folder, list: () => items.list(), find: (id) => items.find(id) };
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

function itemOfPath(path: string): Item {
  if (isSnapshot(path)) return heapItem(path, nameOf(path), 'heap');
  if (isCore(path)) return coreItem(path, 'core');
  return bundleItem(path);
}
