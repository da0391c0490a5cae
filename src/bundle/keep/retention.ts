/**
 * Limits the size of the dump folder: the least valuable bundles are removed first (worth.ts), the newest is always kept,
 * and anything that is no bundle is never touched, whatever its name. The limits take precedence: if the first and last
 * bundles of each signature alone exceed them, the least valuable of those are removed. Runs in the dying process after the
 * seal, and in `agentdump prune`. Never throws.
 */
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { lastName } from '../../platform/paths.ts';
import {
  bundleSuffix,
  encryptedSuffix,
  manifestName,
  packedSuffix,
  partialSuffix,
  partNames,
  progressName,
  removedSuffix,
  startingSuffix,
  unfinishedSuffix,
} from '../layout/bundle.ts';
import { sequelSuffix } from '../layout/sequel.ts';
import { readBundleName } from '../write/bundle-name.ts';
import { removeFlatTree } from '../write/folder-sink.ts';
import { appendRemoval } from '../write/ledger.ts';
import { lstatSync, nowMs, readdirSync, rmdirSync, unlinkSync } from '../write/system.ts';
import { leastWorthFirst } from './worth.ts';

export interface RetentionOptions {
  dir: string;
  /** How many bundles are kept, including the newest. */
  maxBundles: number;
  /** Their total size. The newest is kept even if it alone is larger. */
  maxBytes: number;
  /** Path or name of a bundle to keep whatever its age: the one just written. */
  keep?: string;
  /** Only report what would be removed; remove nothing, not even left-overs. */
  dryRun?: boolean;
}

export interface RetentionResult {
  /** Names of the removed bundles, in the order of removal. */
  removed: string[];
  freedBytes: number;
  /** The bundles that remain. */
  bundles: number;
  bytes: number;
}

interface Candidate {
  name: string;
  isFolder: boolean;
  bytes: number;
}

/**
 * A file touched less than this ago may still have a writer: V8 is silent for a long time before the first byte of a
 * snapshot.
 */
const staleAfterMs = 2 * 60_000;
const writersSuffixes = [partialSuffix, startingSuffix, unfinishedSuffix];
const countedSuffixes = new Set([bundleSuffix, partialSuffix, startingSuffix, packedSuffix, encryptedSuffix]);
const sweptFolders = new Set([startingSuffix, removedSuffix, bundleSuffix + unfinishedSuffix]);
const sweptFiles = new Set([packedSuffix + unfinishedSuffix, encryptedSuffix + unfinishedSuffix]);

export function applyRetention(options: RetentionOptions): RetentionResult {
  const result: RetentionResult = { removed: [], freedBytes: 0, bundles: 0, bytes: 0 };
  const candidates = findCandidates(options.dir, options.dryRun !== true);
  const kept = (options.keep === undefined ? undefined : lastName(options.keep)) ?? candidates.at(-1)?.name;
  let count = candidates.length;
  let bytes = candidates.reduce((sum, candidate) => sum + candidate.bytes, 0);
  const isOver = (): boolean => count > options.maxBundles || bytes > options.maxBytes;
  if (!isOver()) return { ...result, bundles: count, bytes };
  const byName = new Map(candidates.map((candidate) => [candidate.name, candidate]));
  for (const name of leastWorthFirst(options.dir, [...byName.keys()])) {
    if (!isOver()) break;
    const candidate = byName.get(name);
    if (!candidate || name === kept || isBeingWritten(options.dir, name)) continue;
    // Recorded first: if we are killed in between, the bundle must not look lost.
    if (!options.dryRun) appendRemoval(options.dir, name);
    if (!options.dryRun && !remove(options.dir, candidate)) {
      if (stat(join(options.dir, name))) continue;
      // Another process is tidying up too: don't remove a second bundle instead of this one.
      count--;
      bytes -= candidate.bytes;
      continue;
    }
    count--;
    bytes -= candidate.bytes;
    result.removed.push(candidate.name);
    result.freedBytes += candidate.bytes;
  }
  return { ...result, bundles: count, bytes };
}

/** Bundles in the folder, oldest first. Removes what killed writers and removals left behind. */
function findCandidates(dir: string, sweep: boolean): Candidate[] {
  const found: Candidate[] = [];
  for (const name of namesIn(dir).sort()) {
    const suffix = readBundleName(name)?.suffix;
    if (suffix === undefined) continue;
    const isFolder = isRealFolder(join(dir, name));
    if (
      countedSuffixes.has(suffix) &&
      (isFolder ? looksLikeBundle(join(dir, name)) : isFile(dir, name, suffix))
    )
      found.push({ name, isFolder, bytes: sizeOf(join(dir, name), isFolder) });
    else if (sweep && (isFolder ? sweptFolders : sweptFiles).has(suffix) && !isBeingWritten(dir, name))
      remove(dir, { name, isFolder, bytes: 0 });
  }
  return found;
}

function looksLikeBundle(path: string): boolean {
  return [manifestName, progressName, partNames.trigger].some((name) => {
    const found = stat(join(path, name));
    return found?.isFile() === true && found.size > 0;
  });
}

function isFile(dir: string, name: string, suffix: string): boolean {
  const isFileSuffix = suffix === packedSuffix || suffix === encryptedSuffix;
  return isFileSuffix && stat(join(dir, name))?.isFile() === true;
}

function isRealFolder(path: string): boolean {
  return stat(path)?.isDirectory() === true;
}

function isBeingWritten(dir: string, name: string): boolean {
  if (!writersSuffixes.some((suffix) => name.endsWith(suffix))) return false;
  // A file's time stamp is finer than the clock, and may be a fraction of a millisecond ahead.
  return Math.abs(nowMs() - lastTouchMs(join(dir, name))) < staleAfterMs;
}

/** Writing a part in pieces touches its file, not the folder. */
function lastTouchMs(path: string): number {
  const paths = isRealFolder(path) ? [path, ...namesIn(path).map((name) => join(path, name))] : [path];
  return paths.reduce((latest, each) => Math.max(latest, stat(each)?.mtimeMs ?? 0), 0);
}

function sizeOf(path: string, isFolder: boolean): number {
  if (!isFolder) return stat(path)?.size ?? 0;
  let sum = 0;
  for (const name of namesIn(path)) {
    const child = stat(join(path, name));
    if (child?.isDirectory())
      for (const below of namesIn(join(path, name))) sum += stat(join(path, name, below))?.size ?? 0;
    else sum += child?.size ?? 0;
  }
  return sum;
}

/** The folder is renamed before its first file is removed, so that an incomplete bundle is never taken for a whole one. */
function remove(dir: string, { name, isFolder }: Candidate): boolean {
  try {
    const path = join(dir, name);
    removeSequel(path);
    if (!isFolder) {
      unlinkSync(path);
      return true;
    }
    const doomed = join(dir, name.slice(0, name.lastIndexOf(bundleSuffix)) + removedSuffix);
    if (doomed !== path) platform.files.rename(path, doomed);
    removeFlatTree(doomed);
    rmdirSync(doomed);
    return true;
  } catch {
    return false;
  }
}

function removeSequel(path: string): void {
  if (stat(path + sequelSuffix)?.isFile()) unlinkSync(path + sequelSuffix);
}

function stat(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
