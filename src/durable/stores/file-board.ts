/**
 * Due times of the runs of a folder that have not ended. Each run has a small file: in `.open/` if there is work to do or a
 * process works at it, otherwise in `.resting/`, and in that case an empty file in `.timers/` whose name contains the due
 * time. A look reads the names of the timers and the entries in `.open/`, so runs that rest or have ended cost nothing.
 *
 * The entries are a hint only; the journal is authoritative for the state of a run. Two processes that move an entry at the
 * same time may leave it due although it is not, or lose it; a run without an entry is found by `FileStore.findUnlisted`.
 * Older releases kept all entries in `.open/`, where they are still read.
 */
import { mkdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { draftIn, isDraft, namesIn, sweepDrafts } from './drafts.ts';
import { dueTimeOf } from './due-time.ts';
import type { RunRest, RunTitle } from './store.ts';

/** How long the contents of an unchanged name are trusted: in a busy worker looks follow each other quickly. */
const trustedMs = 1_000;
const timeDigits = 16;

export interface BoardEntry extends Omit<RunTitle, 'dueAtMs'> {
  run: string;
  dueAtMs: number | 'never';
  /** No answer makes it due earlier. */
  isFirm?: boolean;
  /** It was put to rest because it only waited, and continues when it is taken again. */
  isBegun?: boolean;
  /** How many answers the run had when it was put to rest. */
  answers?: number;
}

export class FileBoard {
  readonly #open: string;
  readonly #resting: string;
  readonly #timers: string;
  /** Entries in `.open/`, by the file that was read: each change creates a new file. */
  #read = new Map<string, ReadEntry>();
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(runsFolder: string) {
    this.#open = join(runsFolder, '.open');
    this.#resting = join(runsFolder, '.resting');
    this.#timers = join(runsFolder, '.timers');
  }

  /**
   * Creates the entry of the run if it has none. An existing entry only changes if it has no name yet, or if the run is being
   * worked at, which makes it due.
   */
  add(fileName: string, run: string, { isWork = false, dueAtMs, ...title }: RunTitle): void {
    const before = this.find(fileName);
    const isNamed = before?.name !== undefined || title.name === undefined;
    const isInQueue = before?.queue !== undefined || title.queue === undefined;
    const isAtRest = before?.dueAtMs !== 0 || before.isBegun === true;
    if (before && isNamed && isInQueue && !(isWork && isAtRest)) return;
    const { answers, isFirm, isBegun, ...known } = before ?? {};
    if (isWork) this.#put(fileName, { ...title, ...known, run, dueAtMs: 0 }, before);
    else {
      const asWished = { dueAtMs: dueTimeOf(dueAtMs) ?? 0, ...(dueAtMs !== undefined && { isFirm: true }) };
      this.#put(fileName, { ...title, ...asWished, ...before, run }, before);
    }
  }

  /** `answers`: how many the run had when it was checked for them. */
  rest(fileName: string, run: string, { isOver, dueAtMs, isFirm, mark }: RunRest, answers: number): void {
    const before = this.find(fileName);
    if (isOver) this.#remove(fileName, before);
    else {
      const { isFirm: _, isBegun, ...known } = before ?? {};
      const dueTime = dueTimeOf(dueAtMs) ?? 0;
      const flags = { ...(isFirm && { isFirm }), ...(mark !== undefined && { isBegun: true }) };
      this.#put(fileName, { ...known, run, dueAtMs: dueTime, answers, ...flags }, before);
    }
  }

  /** An answer was stored. */
  wake(fileName: string, run: string, answers: number): void {
    const before = this.find(fileName);
    if (before?.isFirm && !isDue(before.dueAtMs)) return;
    const { isFirm, ...known } = before ?? {};
    this.#put(fileName, { ...known, run, dueAtMs: 0, answers }, before);
  }

  remove(fileName: string): void {
    this.#remove(fileName, this.find(fileName));
  }

  /** All entries that are due, the most urgent first. */
  findDue(names: readonly string[], nowMs: number): BoardEntry[] {
    this.#wakeTimers(nowMs);
    const isTrusted = performance.now() - this.#checkedAtMs < trustedMs;
    if (!isTrusted) this.#checkedAtMs = performance.now();
    const before = this.#read;
    this.#read = new Map();
    const due: BoardEntry[] = [];
    for (const fileName of namesIn(this.#open)) {
      if (isDraft(fileName)) continue;
      const entry = this.#findOpen(fileName, before, isTrusted);
      if (!entry || !isDue(entry.dueAtMs, nowMs)) continue;
      if (entry.name === undefined || names.includes(entry.name)) due.push(entry);
    }
    const dueAt = ({ dueAtMs }: BoardEntry) => Number(dueAtMs);
    return due.sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0) || dueAt(a) - dueAt(b));
  }

  /** Undefined if there is no entry, or if it can't be read. */
  find(fileName: string): BoardEntry | undefined {
    return readEntry(join(this.#open, fileName)) ?? readEntry(join(this.#resting, fileName));
  }

  /** File names of entries whose runs rest. */
  listResting(): string[] {
    return namesIn(this.#resting).filter((name) => !isDraft(name));
  }

  sweepDrafts(nowMs?: number): void {
    for (const folder of [this.#open, this.#resting, this.#timers]) sweepDrafts(folder, nowMs);
  }

  /**
   * Reports nothing if the system does not support watching folders. `tell` receives the run whose entry in `.open/` is new
   * or changed.
   */
  watch(tell: (run: string) => void): () => void {
    try {
      mkdirSync(this.#open, { recursive: true, mode: 0o700 });
      const watcher = watch(this.#open, { persistent: false }, (_, fileName) => {
        if (fileName === null || isDraft(fileName)) return;
        const entry = readEntry(join(this.#open, fileName));
        if (entry) tell(entry.run);
      });
      // The folder was removed, or the limit of watchers is reached. Waiting code polls as well.
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    } catch {
      return () => {};
    }
  }

  /** Moves the runs whose time has come. An outdated timer is only removed. */
  #wakeTimers(nowMs: number): void {
    for (const timer of namesIn(this.#timers)) {
      if (!(Number(timer.slice(0, timeDigits)) <= nowMs)) continue;
      const fileName = timer.slice(timeDigits + 1);
      const entry = readEntry(join(this.#resting, fileName));
      if (entry && timerOf(fileName, entry.dueAtMs) === timer) this.#put(fileName, entry, entry, nowMs);
      else rmSync(join(this.#timers, timer), { force: true });
    }
  }

  #findOpen(fileName: string, before: Map<string, ReadEntry>, isTrusted: boolean): BoardEntry | undefined {
    const path = join(this.#open, fileName);
    let known = before.get(fileName);
    if (!known || !isTrusted) {
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found) return undefined;
      const { ino: inode, mtimeMs: changedMs } = found;
      if (known?.inode !== inode || known.changedMs !== changedMs) {
        const entry = readEntry(path);
        if (!entry) return undefined;
        known = { inode, changedMs, entry };
      }
    }
    this.#read.set(fileName, known);
    return known.entry;
  }

  /** Writes the entry to the folder where it belongs before it is removed from the previous one. */
  #put(fileName: string, entry: BoardEntry, before?: Partial<BoardEntry>, nowMs = Date.now()): void {
    const timer = timerOf(fileName, entry.dueAtMs);
    if (isDue(entry.dueAtMs, nowMs)) {
      this.#read.delete(fileName);
      writeEntry(this.#open, fileName, entry);
      rmSync(join(this.#resting, fileName), { force: true });
    } else {
      if (timer !== undefined) writeTimer(this.#timers, timer);
      writeEntry(this.#resting, fileName, entry);
      rmSync(join(this.#open, fileName), { force: true });
    }
    this.#stop(timerOf(fileName, before?.dueAtMs), isDue(entry.dueAtMs, nowMs) ? undefined : timer);
  }

  #remove(fileName: string, before: BoardEntry | undefined): void {
    for (const folder of [this.#resting, this.#open]) rmSync(join(folder, fileName), { force: true });
    this.#stop(timerOf(fileName, before?.dueAtMs));
  }

  #stop(timer: string | undefined, unless?: string): void {
    if (timer !== undefined && timer !== unless) rmSync(join(this.#timers, timer), { force: true });
  }
}

interface ReadEntry {
  inode: number;
  changedMs: number;
  entry: BoardEntry;
}

function isDue(dueAtMs: BoardEntry['dueAtMs'], nowMs = Date.now()): boolean {
  return dueAtMs !== 'never' && dueAtMs <= nowMs;
}

/** Undefined for a run that no time makes due, and for one that is due already. */
function timerOf(fileName: string, dueAtMs: BoardEntry['dueAtMs'] | undefined): string | undefined {
  if (dueAtMs === undefined || dueAtMs === 'never' || dueAtMs <= 0) return undefined;
  return `${String(Math.ceil(dueAtMs)).padStart(timeDigits, '0')}+${fileName}`;
}

function readEntry(path: string): BoardEntry | undefined {
  try {
    const entry = JSON.parse(readFileSync(path, 'utf8'));
    return typeof entry?.run === 'string' && entry.run !== '' ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Atomic. */
function writeEntry(folder: string, fileName: string, entry: BoardEntry): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = draftIn(folder);
  writeFileSync(draft, JSON.stringify(entry), { mode: 0o600, flag: 'wx' });
  platform.files.rename(draft, join(folder, fileName));
}

function writeTimer(folder: string, timer: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, timer), '', { mode: 0o600 });
}
