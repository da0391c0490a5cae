/**
 * Keeps the dump folder small: what is worth least goes first (worth.ts), the newest never goes, and what is no bundle is
 * never touched, whatever its name. The limits win: where firsts and lasts alone are too many, the
 * least of them go. Runs in the dying process after the seal, and in `agentdump prune`. Never throws.
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
  /** How many bundles may stay, the newest included. */
  maxBundles: number;
  /** Bytes that all of them may take. The newest stays even when it alone is bigger. */
  maxBytes: number;
  /** Path or name of a bundle that stays whatever its age: the one that was just written. */
  keep?: string;
  /** Only say what would go: nothing is removed, left-overs stay too. */
  dryRun?: boolean;
}

export interface RetentionResult {
  /** Names of what was removed, in the order of their going. */
  removed: string[];
  freedBytes: number;
  /** What stays. */
  bundles: number;
  bytes: number;
}

interface Candidate {
  name: string;
  isFolder: boolean;
  bytes: number;
}

/** What was touched so recently may still have its writer: V8 is silent for long before a snapshot's first byte. */
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
    // First, so that none that is killed in between makes it look lost.
    if (!options.dryRun) appendRemoval(options.dir, name);
    if (!options.dryRun && !remove(options.dir, candidate)) {
      if (stat(join(options.dir, name))) continue;
      // Another process has tidied up beside us: a second one must not go for it.
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

/** Bundles in the folder, oldest first. Left-overs of writers and of removals that were killed are swept on the way. */
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
  // A file's time is finer than the clock's, and may be a fraction of a millisecond ahead of it.
  return Math.abs(nowMs() - lastTouchMs(join(dir, name))) < staleAfterMs;
}

/** A part that is written in pieces touches its own file, not the folder. */
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

/** A folder loses its name before its first file, so that none is ever found that claims what is already gone. */
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
