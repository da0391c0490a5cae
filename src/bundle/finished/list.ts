/**
 * Which bundles a dump folder holds, and which of them a person means: `latest`, a path, a folder's name or the start
 * of an id. Reads names and manifests only.
 */
import { basename, join, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import {
  bundleSuffix,
  encryptedSuffix,
  packedSuffix,
  partialSuffix,
  progressName,
  startingSuffix,
} from '../layout/bundle.ts';
import type { Sequel } from '../layout/sequel.ts';
import { openBundle } from '../read/reader.ts';
import { readSequel } from '../read/sequel.ts';
import { readBundleName } from '../write/bundle-name.ts';
import { existsSync, lstatSync, readdirSync, statSync } from '../write/system.ts';
import { chooseLatest } from './list-latest.ts';

export type BundleState = 'sealed' | 'partial' | 'packed' | 'encrypted' | 'unreadable';

export interface ListedBundle {
  name: string;
  path: string;
  state: BundleState;
  /** ISO 8601 UTC, from the name. */
  at: string;
  /** The short id of the name: eight hexadecimal digits. */
  shortId: string;
  /** Absent for one that is encrypted or unreadable. */
  program?: string;
  verdictKind?: string;
  /** Sizes of its parts, or of the file. */
  bytes: number;
  gaps: number;
  /** What became of the process, of a bundle of a living one, where that is known. */
  sequel?: Sequel;
  /** Why it is unreadable. */
  problem?: string;
}

/** Newest first. A folder that is not there holds none. Throws `not-found` only for a path that is no folder. */
export function listBundles(dir: string): ListedBundle[] {
  return namesOfBundles(dir).map((name) => describe(dir, name));
}

/** Those of them that were written between two times (ISO 8601 UTC), both left out. No other one is opened. */
export function listBundlesBetween(dir: string, from: string, to: string): ListedBundle[] {
  return namesOfBundles(dir)
    .filter((name) => {
      const at = readBundleName(name)?.at ?? '';
      return at > from && at < to;
    })
    .map((name) => describe(dir, name));
}

function describe(dir: string, name: string): ListedBundle {
  const path = join(dir, name);
  const named = readBundleName(name);
  const sequel = readSequel(path);
  const entry = { name, path, at: named?.at ?? '', shortId: named?.shortId ?? '', ...(sequel && { sequel }) };
  if (named?.suffix === encryptedSuffix)
    return { ...entry, state: 'encrypted', bytes: lstatSync(path).size, gaps: 0 };
  try {
    const bundle = openBundle(path);
    bundle.close();
    const { program, verdictKind } = bundle.head;
    return {
      ...entry,
      state: bundle.packed ? 'packed' : bundle.sealed ? 'sealed' : 'partial',
      ...(program !== undefined && { program }),
      ...(verdictKind !== undefined && { verdictKind }),
      bytes: bundle.parts.reduce((sum, part) => sum + part.bytes, 0),
      gaps: bundle.gaps.length,
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...entry, state: 'unreadable', bytes: 0, gaps: 0, problem };
  }
}

/** What pack and encrypt put behind the name of a bundle, and encrypt behind that of a packed one. */
const copySuffixes = [
  packedSuffix.slice(bundleSuffix.length),
  encryptedSuffix.slice(bundleSuffix.length),
  encryptedSuffix.slice(packedSuffix.length),
];

const listed = new Set([bundleSuffix, partialSuffix, packedSuffix, encryptedSuffix]);

/** Killed before its first part, it still says what died, of what and when. */
function isBegun(dir: string, name: string): boolean {
  if (readBundleName(name)?.suffix !== startingSuffix) return false;
  return (statSync(join(dir, name, progressName), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function namesOfBundles(dir: string): string[] {
  const stat = lstatSync(resolve(dir), { throwIfNoEntry: false });
  if (!stat) return [];
  try {
    return readdirSync(dir)
      .filter((name) => listed.has(readBundleName(name)?.suffix ?? '') || isBegun(dir, name))
      .sort()
      .reverse();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOTDIR' ? 'is no folder of bundles' : `can't be read: ${code}`;
    throw new AgentdumpError('not-found', `${dir} ${problem}`, { path: dir }, error);
  }
}

/**
 * The path of the bundle that is meant: `latest`, a path (of a dump folder: its newest), a name in `dir`, or the first digits (four at least) of an
 * id that no other begins with. Throws `not-found`, and `usage` for no name at all.
 */
export function findBundle(wanted: string, dir: string): string {
  if (wanted === '')
    throw new AgentdumpError('usage', 'the name of the bundle is empty', { argument: 'bundle' });
  if (wanted !== 'latest' && existsSync(wanted)) return newestWithin(wanted) ?? wanted;
  const all = namesOfBundles(dir);
  const names = all.includes(wanted) ? [wanted] : withoutCopies(all);
  const [found, other] =
    wanted === 'latest' ? [chooseLatest(names, dir)] : names.filter((name) => isMeant(name, wanted));
  if (found !== undefined && other === undefined) return join(dir, found);
  const details = { name: wanted, path: dir, bundles: all.length };
  throw new AgentdumpError('not-found', notFoundText(wanted, dir, other !== undefined), details);
}

/** The newest bundle of a dump folder; undefined for anything else, a bundle above all. */
function newestWithin(path: string): string | undefined {
  const isBundle = readBundleName(basename(resolve(path))) !== undefined;
  if (isBundle || !statSync(path).isDirectory()) return undefined;
  const [newest] = withoutCopies(namesOfBundles(path));
  return newest === undefined ? undefined : join(path, newest);
}

/** Of a bundle that was packed or encrypted and is there still, the bundle itself. */
function withoutCopies(names: readonly string[]): string[] {
  const copies = new Set(names.flatMap((name) => copySuffixes.map((suffix) => `${name}${suffix}`)));
  return names.filter((name) => !copies.has(name));
}

function isMeant(name: string, wanted: string): boolean {
  return (
    name === wanted ||
    (/^[0-9a-f]{4,8}$/.test(wanted) && readBundleName(name)?.shortId.startsWith(wanted) === true)
  );
}

function notFoundText(wanted: string, dir: string, isAmbiguous: boolean): string {
  if (isAmbiguous) return `more than one bundle in ${dir} is meant by ${wanted}`;
  return wanted === 'latest'
    ? `there is no bundle in ${dir}`
    : `there is no bundle ${wanted}, neither here nor in ${dir}`;
}
