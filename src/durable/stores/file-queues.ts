/**
 * Holds the limits of queues in a folder of runs. Whoever wants to take runs of a queue first holds the queue: below
 * `.queues/<queue>/` there is a lease like that of a run, so a process that dies there frees it. The holder counts the places
 * that are taken, takes what still fits, and releases the queue. A place is a file with the name of a run's folder, and is
 * taken as long as that run is held, so a death frees it together with the run. Starts are lines of a file.
 *
 * What is taken is written before the run is: a death in between costs a start of the rate, and never exceeds it.
 */
import { randomInt } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentdumpError } from '../../errors.ts';
import { platform } from '../../platform/index.ts';
import { draftIn, namesIn, sweepDrafts } from './drafts.ts';
import type { BoardEntry } from './file-board.ts';
import { FileLease } from './file-lease.ts';
import { encodeName } from './file-names.ts';
import { hasConcurrency, type QueueLimits, type RunRate, ratesOf } from './queue-limits.ts';
import type { TakenFromQueues, TakenRun } from './store.ts';

/** Another process holds the queue; it usually does for about a millisecond. */
const busyMs = 4;
/** Of lines about starts that no longer count, before they are removed. */
const mostOldLines = 1_000;

interface Start {
  atMs: number;
  key: string;
}

type IsHeld = (runFolder: string, ifUnknown: boolean) => boolean;

export class FileQueues {
  readonly #folder: string;
  readonly #runs: string;
  readonly #isHeld: IsHeld;

  constructor(runsFolder: string, isHeld: IsHeld) {
    this.#runs = runsFolder;
    this.#folder = join(runsFolder, '.queues');
    this.#isHeld = isHeld;
  }

  /** `due`: the most urgent first. `takeOne` returns undefined if the run can't be had. */
  take(
    queue: string,
    limits: QueueLimits,
    due: readonly BoardEntry[],
    most: number,
    takeOne: (entry: BoardEntry) => TakenRun | undefined,
  ): TakenFromQueues {
    const isFree = ({ run }: BoardEntry) => !this.#isHeld(join(this.#runs, encodeName(run)), false);
    if (!due.some(isFree)) return { runs: [] };
    const folder = join(this.#folder, encodeName(queue));
    mkdirSync(join(folder, placesFolder), { recursive: true, mode: 0o700 });
    let lease: FileLease;
    try {
      lease = FileLease.take(folder, `queue ${queue}`);
    } catch (error) {
      if ((error as AgentdumpError).code !== 'held') throw error;
      return { runs: [], againMs: busyMs + randomInt(busyMs + 1) };
    }
    try {
      const room = new Room(folder, limits, (place) => this.#isHeld(join(this.#runs, place), true));
      const runs: TakenRun[] = [];
      for (const entry of [...due.filter(isBegun), ...due.filter((one) => !isBegun(one))]) {
        if (runs.length >= most || room.isFullFor(entry)) break;
        if (!room.hasForKeyOf(entry) || !isFree(entry)) continue;
        const place = encodeName(entry.run);
        // A holder that was suspended beyond its lease on another machine may have been replaced.
        lease.verify();
        room.occupy(place, entry);
        const taken = takeOne(entry);
        if (taken?.handle) room.note(entry);
        else room.leave(place);
        if (taken) runs.push(taken);
      }
      const { againMs } = room;
      return { runs, ...(againMs !== undefined && runs.length < most && { againMs }) };
    } finally {
      lease.release();
    }
  }

  sweepDrafts(nowMs?: number): void {
    for (const queue of namesIn(this.#folder))
      for (const folder of ['', placesFolder]) sweepDrafts(join(this.#folder, queue, folder), nowMs);
  }
}

const placesFolder = 'places';
const isBegun = (entry: BoardEntry): boolean => entry.isBegun === true;
const keyOf = ({ queueKey = '' }: Pick<BoardEntry, 'queueKey'>): string => queueKey;

/** What the limits of a queue still permit, for the process that holds the queue. */
class Room {
  readonly #folder: string;
  readonly #limits: QueueLimits;
  readonly #taken = new Map<string, number>();
  #takenInAll = 0;
  /** Keys whose rate is exhausted. */
  readonly #exhausted = new Set<string>();
  readonly #starts: Start[];
  /** The earliest time at which a rate that was in the way permits a start. */
  #againAtMs = Number.POSITIVE_INFINITY;

  constructor(folder: string, limits: QueueLimits, isHeld: (place: string) => boolean) {
    this.#folder = folder;
    this.#limits = limits;
    if (hasConcurrency(limits)) this.#countPlaces(isHeld);
    this.#starts = ratesOf(limits).length > 0 ? this.#readStarts() : [];
  }

  get againMs(): number | undefined {
    return Number.isFinite(this.#againAtMs) ? Math.max(1, this.#againAtMs - Date.now()) : undefined;
  }

  /** Nor does a less urgent one fit. */
  isFullFor(entry: BoardEntry): boolean {
    const { concurrency, rate } = this.#limits;
    return !hasPlace(concurrency, this.#takenInAll) || !(isBegun(entry) || this.#canStart(rate, () => true));
  }

  hasForKeyOf(entry: BoardEntry): boolean {
    const { concurrency, rate } = this.#limits.perKey ?? {};
    const key = keyOf(entry);
    if (!hasPlace(concurrency, this.#taken.get(key) ?? 0)) return false;
    if (isBegun(entry)) return true;
    if (this.#exhausted.has(key)) return false;
    const canStart = this.#canStart(rate, (start) => start.key === key);
    if (!canStart) this.#exhausted.add(key);
    return canStart;
  }

  /** Before the run is taken. */
  occupy(place: string, entry: BoardEntry): void {
    const key = keyOf(entry);
    if (hasConcurrency(this.#limits)) {
      const draft = draftIn(join(this.#folder, placesFolder));
      writeFileSync(draft, JSON.stringify({ key }), { mode: 0o600, flag: 'wx' });
      platform.files.rename(draft, this.#placeOf(place));
    }
    if (ratesOf(this.#limits).length === 0 || isBegun(entry)) return;
    const start = { atMs: Date.now(), key };
    this.#starts.push(start);
    // The line break is first, so that a line that a death has torn does not damage this one.
    appendFileSync(join(this.#folder, startsFile), `\n${JSON.stringify(start)}`, { mode: 0o600 });
  }

  /** The run was taken. */
  note(entry: BoardEntry): void {
    const key = keyOf(entry);
    this.#takenInAll++;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }

  leave(place: string): void {
    rmSync(this.#placeOf(place), { force: true });
  }

  #placeOf(place: string): string {
    return join(this.#folder, placesFolder, place);
  }

  #canStart(rate: RunRate | undefined, counts: (start: Start) => boolean): boolean {
    if (!rate) return true;
    const sinceMs = Date.now() - rate.periodMs;
    const recent = this.#starts.filter((start) => start.atMs > sinceMs && counts(start));
    if (recent.length < rate.starts) return true;
    const first = recent[recent.length - rate.starts]?.atMs ?? sinceMs;
    this.#againAtMs = Math.min(this.#againAtMs, first + rate.periodMs);
    return false;
  }

  #countPlaces(isHeld: (place: string) => boolean): void {
    for (const name of namesIn(join(this.#folder, placesFolder))) {
      const key = readKey(this.#placeOf(name));
      if (key === undefined) continue;
      if (!isHeld(name)) this.leave(name);
      else {
        this.#takenInAll++;
        this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
      }
    }
  }

  /** In the order of their times. A clock that was set back must not delay starts by more than a period. */
  #readStarts(): Start[] {
    const path = join(this.#folder, startsFile);
    const nowMs = Date.now();
    const sinceMs = nowMs - Math.max(...ratesOf(this.#limits).map(({ periodMs }) => periodMs));
    const lines = readText(path).split('\n').filter(Boolean);
    const starts = lines
      .map(readStart)
      .filter((start) => start !== undefined && start.atMs > sinceMs) as Start[];
    for (const start of starts) start.atMs = Math.min(start.atMs, nowMs);
    starts.sort((a, b) => a.atMs - b.atMs);
    if (lines.length - starts.length > mostOldLines) {
      const draft = draftIn(this.#folder);
      writeFileSync(draft, starts.map((start) => JSON.stringify(start)).join('\n'), {
        mode: 0o600,
        flag: 'wx',
      });
      platform.files.rename(draft, path);
    }
    return starts;
  }
}

const startsFile = 'starts';
const hasPlace = (concurrency: number | undefined, taken: number) =>
  concurrency === undefined || taken < concurrency;

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Undefined for a line that a death has torn: its run was not taken. */
function readStart(line: string): Start | undefined {
  try {
    const { atMs, key } = JSON.parse(line);
    return typeof atMs === 'number' && typeof key === 'string' ? { atMs, key } : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for a draft, and for a place that is gone. */
function readKey(path: string): string | undefined {
  try {
    const { key } = JSON.parse(readFileSync(path, 'utf8'));
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
