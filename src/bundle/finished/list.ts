/**
 * Lists the bundles of a dump folder, and finds the one that a user names: `latest`, a path, a folder's name, or the start
 * of an id. Reads only names and manifests.
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
import { type BundleReader, openBundle } from '../read/reader.ts';
import { readSequel } from '../read/sequel.ts';
import { readBundleName } from '../write/bundle-name.ts';
import { existsSync, lstatSync, readdirSync, statSync } from '../write/system.ts';
import { chooseLatest } from './list-latest.ts';

export type BundleState = 'sealed' | 'partial' | 'packed' | 'encrypted' | 'unreadable';

export interface ListedBundle {
  name: string;
  path: string;
  state: BundleState;
  /** ISO 8601 in UTC, from the name. */
  at: string;
  /** The short id in the name: eight hexadecimal digits. */
  shortId: string;
  /** Absent if the bundle is encrypted or unreadable. */
  program?: string;
  verdictKind?: string;
  /** If asked for: the name of the error that ended it, and the first line of its message. */
  error?: string;
  /** The total size of its parts, or the size of the file. */
  bytes: number;
  gaps: number;
  /** For a bundle of a living process: what became of it, if known. */
  sequel?: Sequel;
  /** Why it is unreadable. */
  problem?: string;
}

export interface ListOptions {
  /** Reads the error of each bundle, too. */
  withErrors?: boolean;
}

/** An error longer than this is not read for a list. */
const mostErrorBytes = 1 << 20;
const mostErrorChars = 300;

/** The folder for the bundles of a report of `agentdump ci`. */
export const bundlesOf = (report: string): string => join(report, 'bundles');

/** The folder that holds the bundles of `path`: itself, or a folder within it if it is a report of `agentdump ci`. */
export function dumpFolderOf(path: string): string {
  const bundles = bundlesOf(path);
  const isReport =
    existsSync(join(path, 'summary.json')) && statSync(bundles, { throwIfNoEntry: false })?.isDirectory();
  return isReport ? bundles : path;
}

/**
 * Sorted newest first. `folder` is a dump folder or a report of `agentdump ci`; one that does not exist has no bundles.
 * Throws `not-found` only for a path that is no folder.
 */
export function listBundles(folder: string, options: ListOptions = {}): ListedBundle[] {
  const dir = dumpFolderOf(folder);
  return namesOfBundles(dir).map((name) => describeBundle(dir, name, options));
}

/** The bundles of these kinds of verdict written between two times (ISO 8601 in UTC, both exclusive). Opens no others. */
export function listBundlesBetween(
  dir: string,
  { from, to, kinds }: { from: string; to: string; kinds: readonly string[] },
): ListedBundle[] {
  const meant = kinds.map((kind) => `-${kind}-`);
  // Names begin with the time, so most of those in a large folder need not be read.
  const [earliest, latest] = [from, to].map((time) => time.replace(/[-:]/g, ''));
  return namesOfBundles(
    dir,
    (name) => name > earliest! && name < latest! && meant.some((kind) => name.includes(kind)),
  )
    .filter((name) => {
      const at = readBundleName(name)?.at ?? '';
      return at > from && at < to;
    })
    .map((name) => describeBundle(dir, name));
}

export function describeBundle(dir: string, name: string, { withErrors }: ListOptions = {}): ListedBundle {
  const path = join(dir, name);
  const named = readBundleName(name);
  const sequel = readSequel(path);
  const entry = { name, path, at: named?.at ?? '', shortId: named?.shortId ?? '', ...(sequel && { sequel }) };
  if (named?.suffix === encryptedSuffix)
    return { ...entry, state: 'encrypted', bytes: lstatSync(path).size, gaps: 0 };
  try {
    const bundle = openBundle(path);
    const error = withErrors ? errorOf(bundle) : undefined;
    bundle.close();
    const { program, verdictKind } = bundle.head;
    return {
      ...entry,
      state: bundle.packed ? 'packed' : bundle.sealed ? 'sealed' : 'partial',
      ...(program !== undefined && { program }),
      ...(verdictKind !== undefined && { verdictKind }),
      ...(error && { error }),
      bytes: bundle.parts.reduce((sum, part) => sum + part.bytes, 0),
      gaps: bundle.gaps.length,
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...entry, state: 'unreadable', bytes: 0, gaps: 0, problem };
  }
}

function errorOf(bundle: BundleReader): string | undefined {
  const part = bundle.parts.find(({ name }) => name === 'error.json');
  if (!part || part.bytes > mostErrorBytes) return undefined;
  const { name, message } = bundle.readJson<{ error?: Record<string, unknown> }>(part.name)?.error ?? {};
  const words = [name, message].filter((word) => typeof word === 'string' && word.trim() !== '');
  return words.length > 0 ? words.join(': ').trim().split('\n', 1)[0]!.slice(0, mostErrorChars) : undefined;
}

/** The suffixes that `pack` and `encrypt` add to a bundle's name, and `encrypt` to that of a packed bundle. */
const copySuffixes = [
  packedSuffix.slice(bundleSuffix.length),
  encryptedSuffix.slice(bundleSuffix.length),
  encryptedSuffix.slice(packedSuffix.length),
];

const listed = new Set([bundleSuffix, partialSuffix, packedSuffix, encryptedSuffix]);

/** A bundle whose writer was killed before its first part still says what died, why and when. */
function isBegun(dir: string, name: string): boolean {
  if (readBundleName(name)?.suffix !== startingSuffix) return false;
  return (statSync(join(dir, name, progressName), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Not what is still being packed, encrypted or begun. */
export const isListedBundle = (dir: string, name: string): boolean =>
  listed.has(readBundleName(name)?.suffix ?? '') || isBegun(dir, name);

/** Longer ago than the steps of a file system's clock: what comes later changes the time again. */
const settledMs = 5_000;
let lately: { dir: string; changedMs: number; names: readonly string[] } | undefined;

/** A sender asks for each bundle what else is in its folder, which has the others that it sends. */
function namesIn(dir: string): readonly string[] {
  const path = resolve(dir);
  const changedMs = statSync(path).mtimeMs;
  if (lately?.dir === path && lately.changedMs === changedMs) return lately.names;
  const names = readdirSync(path);
  lately = Date.now() - changedMs > settledMs ? { dir: path, changedMs, names } : undefined;
  return names;
}

function namesOfBundles(dir: string, isMeant: (name: string) => boolean = () => true): string[] {
  const stat = lstatSync(resolve(dir), { throwIfNoEntry: false });
  if (!stat) return [];
  try {
    return namesIn(dir)
      .filter(isMeant)
      .filter((name) => isListedBundle(dir, name))
      .sort()
      .reverse();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOTDIR' ? 'is no folder of bundles' : `can't be read: ${code}`;
    throw new AgentdumpError('not-found', `${dir} ${problem}`, { path: dir }, error);
  }
}

/**
 * The path of the bundle that the user means: `latest`, a path (for a dump folder or a report: its newest bundle), a name in
 * `folder`, or at least four digits of an id that no other bundle's id begins with. Throws `not-found`, and `usage` for an
 * empty name.
 */
export function findBundle(wanted: string, folder: string): string {
  if (wanted === '')
    throw new AgentdumpError('usage', 'the name of the bundle is empty', { argument: 'bundle' });
  if (wanted !== 'latest' && existsSync(wanted)) return newestWithin(wanted) ?? wanted;
  const dir = dumpFolderOf(folder);
  const all = namesOfBundles(dir);
  const names = all.includes(wanted) ? [wanted] : withoutCopies(all);
  const [found, other] =
    wanted === 'latest' ? [chooseLatest(names, dir)] : names.filter((name) => isMeant(name, wanted));
  if (found !== undefined && other === undefined) return join(dir, found);
  const isAmbiguous = other !== undefined;
  const details = { name: wanted, path: folder, bundles: all.length, isAmbiguous };
  throw new AgentdumpError('not-found', notFoundText(wanted, folder, isAmbiguous), details);
}

/** The newest bundle of a dump folder or a report; undefined for anything else, including a bundle. */
function newestWithin(path: string): string | undefined {
  const isBundle = readBundleName(basename(resolve(path))) !== undefined;
  if (isBundle || !statSync(path).isDirectory()) return undefined;
  const dir = dumpFolderOf(path);
  const newest = chooseLatest(withoutCopies(namesOfBundles(dir)), dir);
  return newest === undefined ? undefined : join(dir, newest);
}

/** Leaves out packed and encrypted copies of bundles that are still there. */
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
