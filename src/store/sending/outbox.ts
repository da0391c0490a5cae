/**
 * Records what a dump folder has sent: `sent.jsonl`, with a line for each bundle that a store accepted or refused, and for
 * each failed attempt. So the next sender need not ask the store, which may be down. A lost line costs one query.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type ListedBundle, listBundles } from '../../bundle/finished/list.ts';
import type { SentBundle } from '../../model/fleet/issue.ts';

export const sentName = 'sent.jsonl';
/** Above this size, lines of bundles that no longer exist are removed. */
const largeBytes = 1 << 20;

interface SentLine {
  at: string;
  /** As returned by `storeKey`. */
  store: string;
  /** Name of the bundle; absent if the store was not available. */
  bundle?: string;
  outcome: SentBundle['outcome'] | 'failed';
  because?: string;
}

export interface Outbox {
  /**
   * Sealed, and neither accepted nor refused by this store, in the order in which they are sent: oldest first, but newest first
   * after a failure, because the store may fail at the oldest ones for ever.
   */
  waiting: ListedBundle[];
  refused: { name: string; because: string }[];
  /** The last attempt, if it failed and none has succeeded since. */
  failure?: { at: string; because: string };
}

export function readOutbox(dir: string, place: string): Outbox {
  const { byBundle, failure } = newestLines(readLines(dir), storeKey(place));
  const sealed = listBundles(dir)
    .filter(({ state }) => state !== 'partial' && state !== 'unreadable')
    .reverse();
  const refused = sealed.flatMap(({ name }) => {
    const line = byBundle.get(name);
    return line?.outcome === 'refused' ? [{ name, because: line.because ?? '' }] : [];
  });
  const waiting = sealed.filter(({ name }) => !byBundle.has(name));
  return {
    waiting: failure ? waiting.reverse() : waiting,
    refused,
    ...(failure && { failure: { at: failure.at, because: failure.because ?? '' } }),
  };
}

/** Never throws: if the folder is not writable, the store is asked again the next time. */
export function noteSent(dir: string, place: string, { path, outcome, because }: SentBundle): void {
  append(dir, { store: storeKey(place), bundle: basename(path), outcome, ...(because && { because }) });
}

export function noteFailure(dir: string, place: string, because: string): void {
  append(dir, { store: storeKey(place), outcome: 'failed', because });
}

/** Sixteen hexadecimal digits, without the password, which may change and must not be stored here. */
export function storeKey(place: string): string {
  const known = place.trim().replace(/^(\w+:\/\/)[^@/]*@/, '$1');
  return createHash('sha256').update(known).digest('hex').slice(0, 16);
}

function newestLines(
  lines: readonly SentLine[],
  store: string,
): { byBundle: Map<string, SentLine>; failure: SentLine | undefined } {
  const byBundle = new Map<string, SentLine>();
  let failure: SentLine | undefined;
  for (const line of lines) {
    if (line.store !== store) continue;
    failure = line.outcome === 'failed' ? line : undefined;
    if (line.bundle !== undefined) byBundle.set(line.bundle, line);
  }
  return { byBundle, failure };
}

function append(dir: string, line: Omit<SentLine, 'at'>): void {
  const path = join(dir, sentName);
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > largeBytes) compact(dir, path);
    const text = JSON.stringify({ at: new Date().toISOString(), ...line });
    appendFileSync(path, `${text}\n`, { mode: 0o600 });
  } catch {
    // Read-only or full: the bundle is sent again, and found to be there already.
  }
}

/** Under a temporary name until it is complete. */
function compact(dir: string, path: string): void {
  const there = new Set(listBundles(dir).map(({ name }) => name));
  const lines = readLines(dir).filter(({ bundle }) => bundle === undefined || there.has(bundle));
  const last = lines.filter(({ outcome }) => outcome === 'failed').slice(-1);
  const kept = lines.filter(({ outcome }) => outcome !== 'failed').concat(last);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, kept.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
  renameSync(draft, path);
}

/** Only complete lines: torn or unknown ones are skipped. */
function readLines(dir: string): SentLine[] {
  let text: string;
  try {
    text = readFileSync(join(dir, sentName), 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isSentLine(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

function isSentLine(value: unknown): value is SentLine {
  if (typeof value !== 'object' || value === null) return false;
  const { at, store, bundle, outcome, because } = value as Record<string, unknown>;
  return (
    typeof at === 'string' &&
    typeof store === 'string' &&
    ['stored', 'there', 'refused', 'failed'].includes(outcome as string) &&
    (bundle === undefined || typeof bundle === 'string') &&
    (because === undefined || typeof because === 'string')
  );
}
