/** What a dump folder tells a store of the starts that `agentdump run` has counted there, and when it did. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readStarts } from '../bundle/keep/starts.ts';
import { startsFolder } from '../bundle/layout/bundle.ts';
import type { FleetStore } from './fleet-store.ts';
import type { CountedStarts } from './index/starts.ts';
import { storeKey } from './outbox.ts';

/** Undefined if there are none, or this store has been told of them. */
export function untoldStarts(dir: string, place: string): CountedStarts[] | undefined {
  const starts = readStarts(dir).days.map((day) => ({ ...day, host: hostname() }));
  if (starts.length === 0 || digestOf(starts) === readTold(dir, place)?.digest) return undefined;
  return starts;
}

/** Whether it is time to tell the store, which is not worth it at every start. */
export function areStartsDue(dir: string, place: string, everyMs: number): boolean {
  const told = readTold(dir, place);
  const isRecent = told !== undefined && Math.abs(Date.now() - told.atMs) < everyMs;
  return !isRecent && untoldStarts(dir, place) !== undefined;
}

/** Throws like `FleetStore.countStarts`. */
export async function tellStarts(dir: string, place: string, store: FleetStore): Promise<void> {
  const starts = untoldStarts(dir, place);
  if (!starts) return;
  await store.countStarts(starts);
  try {
    writeFileSync(toldPath(dir, place), digestOf(starts), { mode: 0o600 });
  } catch {
    // A read-only folder: the store is told again, and counts nothing twice.
  }
}

const toldPath = (dir: string, place: string): string => join(dir, startsFolder, `told-${storeKey(place)}`);

const digestOf = (starts: readonly CountedStarts[]): string =>
  createHash('sha256').update(JSON.stringify(starts)).digest('hex');

function readTold(dir: string, place: string): { digest: string; atMs: number } | undefined {
  try {
    const path = toldPath(dir, place);
    return { digest: readFileSync(path, 'utf8'), atMs: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}
