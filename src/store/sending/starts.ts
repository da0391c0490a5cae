/** What a dump folder tells a store of the starts that `agentdump run` has counted there, and when it does. */
import { closeSync, futimesSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CountedStarts, readStarts } from '../../bundle/keep/starts.ts';
import { startsFolder } from '../../bundle/layout/bundle.ts';
import type { FleetStore } from '../fleet-store.ts';
import { clean } from '../grouping/death.ts';
import { storeKey } from './outbox.ts';

/** What this store has not been told: each count is all of its day, and replaces what was told before. */
export function untoldStarts(dir: string, place: string): CountedStarts[] {
  const told = readTold(toldPath(dir, place));
  return readCounts(dir).filter((one) => !told.has(lineOf(one)));
}

/**
 * Whether it is time to tell the store, which is not worth it at every start. If so, it is not for a while, whatever becomes of
 * it: the store may be down.
 */
export function claimTelling(dir: string, place: string, everyMs: number): boolean {
  const path = toldPath(dir, place);
  const atMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (atMs !== undefined && Math.abs(Date.now() - atMs) < everyMs) return false;
  return untoldStarts(dir, place).length > 0 && noteAttempt(path);
}

/** Throws like `FleetStore.countStarts`. */
export async function tellStarts(dir: string, place: string, store: FleetStore): Promise<void> {
  const path = toldPath(dir, place);
  const told = readTold(path);
  const all = readCounts(dir);
  const untold = all.filter((one) => !told.has(lineOf(one)));
  if (untold.length === 0) return;
  noteAttempt(path);
  await store.countStarts(untold);
  try {
    writeFileSync(path, all.map((one) => `${lineOf(one)}\n`).join(''), { mode: 0o600 });
  } catch {
    // A read-only folder: the store is told again, and counts nothing twice.
  }
}

/** With names as a store keeps them, and so a row for each name that it can tell from others. */
function readCounts(dir: string): CountedStarts[] {
  const rows = new Map<string, CountedStarts>();
  for (const one of readStarts(dir)) {
    const row = { ...one, program: clean(one.program) };
    const key = `${row.log} ${row.program}`;
    const known = rows.get(key);
    rows.set(key, known ? { ...known, ...row, count: known.count + row.count } : row);
  }
  return [...rows.values()];
}

const toldPath = (dir: string, place: string): string => join(dir, startsFolder, `told-${storeKey(place)}`);

const lineOf = ({ log, program, count, isAtLeast }: CountedStarts): string =>
  `${log} ${encodeURIComponent(program)} ${count}${isAtLeast ? '+' : ''}`;

function readTold(path: string): ReadonlySet<string> {
  try {
    return new Set(readFileSync(path, 'utf8').split('\n'));
  } catch {
    return new Set();
  }
}

/** False in a folder that can't be written to: nobody would know when it was. */
function noteAttempt(path: string): boolean {
  try {
    const file = openSync(path, 'a', 0o600);
    const now = new Date();
    futimesSync(file, now, now);
    closeSync(file);
    return true;
  } catch {
    return false;
  }
}
