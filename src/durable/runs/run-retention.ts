/**
 * Limits the size of the folder of runs: removes finished runs that are old, or the oldest beyond a number or a size. Never
 * removes an unfinished run, because it can be resumed, nor a held one, nor one that finished within a day, because a new
 * call with its id would do everything again. Only supports the file store; never throws.
 */
import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { RecordCodec } from '../records/codec.ts';
import { namesIn } from '../stores/drafts.ts';
import { FileStore } from '../stores/file-store.ts';
import { isSettledRun, RunLog } from './run-log.ts';

export interface RunLimits {
  /** How many finished runs are kept. */
  maxRuns: number;
  /** Maximum size of the folder of runs, including unfinished ones. */
  maxBytes: number;
  /** Older ones are removed even if there is room. */
  maxDays: number;
}

export interface RunRetention {
  /** Ids, the oldest first. */
  removed: string[];
  freedBytes: number;
  /** What remains, including unfinished runs. */
  runs: number;
  bytes: number;
}

export const dayMs = 24 * 3_600_000;
const everyMs = 3_600_000;
/**
 * How long it may block the event loop per turn. Most folders are done in the first turn, which also works if the host ends
 * its process right after.
 */
const longestTurnMs = { first: 200, later: 10 };
const graveStart = '.removed-';
/** Its modification time is the time of the last look. */
const marker = '.looked-at';

/** AGENTDUMP_MAX_RUNS, AGENTDUMP_MAX_RUN_BYTES, AGENTDUMP_MAX_RUN_DAYS; an invalid value means the default. */
export function defaultRunLimits(environment: NodeJS.ProcessEnv = process.env): RunLimits {
  return {
    maxRuns: readLimit(environment['AGENTDUMP_MAX_RUNS'], 1000),
    maxBytes: readLimit(environment['AGENTDUMP_MAX_RUN_BYTES'], 1024 ** 3),
    maxDays: readLimit(environment['AGENTDUMP_MAX_RUN_DAYS'], 30),
  };
}

function readLimit(text: string | undefined, fallback: number): number {
  const [, figure, unit = ''] = /^(\d{1,15})\s*([KMG])?i?B?$/i.exec(text?.trim() ?? '') ?? [];
  if (figure === undefined) return fallback;
  return Number(figure) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase());
}

/**
 * Called at the end of a run. Looks at most once an hour, regardless of the number of processes. Not awaited; yields to the
 * event loop between two runs.
 */
export function pruneNowAndThen(store: unknown): void {
  if (!(store instanceof FileStore)) return;
  const path = join(store.place, marker);
  const now = new Date();
  try {
    const looked = statSync(path, { throwIfNoEntry: false });
    if (looked && now.getTime() - looked.mtimeMs < everyMs) return;
    if (looked) utimesSync(path, now, now);
    else writeFileSync(path, '', { mode: 0o600 });
    goOn(pruning(store, defaultRunLimits(), {}));
  } catch {
    // The folder is being removed, or is not writable by this user; the run is not affected.
  }
}

/** Works for a limited time in each turn of the loop. */
function goOn(work: Iterator<undefined, RunRetention>, turnMs = longestTurnMs.first): void {
  const untilMs = performance.now() + turnMs;
  try {
    while (performance.now() < untilMs) if (work.next().done) return;
    setImmediate(() => goOn(work, longestTurnMs.later));
  } catch {
    // As above.
  }
}

export function pruneRuns(store: FileStore, limits: RunLimits, options: PruneOptions = {}): RunRetention {
  const work = pruning(store, limits, options);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

interface PruneOptions {
  dryRun?: boolean;
  nowMs?: number;
}

/** Yields between any two runs. */
function* pruning(
  store: FileStore,
  limits: RunLimits,
  { dryRun = false, nowMs = Date.now() }: PruneOptions,
): Generator<undefined, RunRetention> {
  if (!dryRun) sweep(store);
  const runs: { id: string; bytes: number; touchedMs: number }[] = [];
  for (const id of store.list()) {
    runs.push({ id, ...weigh(store.folderOf(id)) });
    yield;
  }
  runs.sort((a, b) => a.touchedMs - b.touchedMs);
  const result: RunRetention = {
    removed: [],
    freedBytes: 0,
    runs: runs.length,
    bytes: runs.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  for (const { id, bytes, touchedMs } of runs) {
    yield;
    const ageMs = nowMs - touchedMs;
    const isOver = result.runs > limits.maxRuns || result.bytes > limits.maxBytes;
    if (ageMs < dayMs || !(isOver || ageMs > limits.maxDays * dayMs)) break;
    if (!(dryRun ? isFinished(store, id) : remove(store, id))) continue;
    result.removed.push(id);
    result.freedBytes += bytes;
    result.runs--;
    result.bytes -= bytes;
  }
  return result;
}

/** When any of its files was last written, and its size. */
function weigh(folder: string): { touchedMs: number; bytes: number } {
  let touchedMs = 0;
  let bytes = 0;
  for (const name of namesIn(folder)) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (!found?.isFile()) continue;
    touchedMs = Math.max(touchedMs, found.mtimeMs);
    bytes += found.size;
  }
  return { touchedMs, bytes };
}

function isFinished(store: FileStore, id: string): boolean {
  try {
    const { records, holder } = store.read(id);
    return holder === undefined && endedWell(records);
  } catch {
    return false;
  }
}

/**
 * Takes the run meanwhile, so that no process begins to work at it; its folder is renamed before its first file is removed.
 */
function remove(store: FileStore, id: string): boolean {
  try {
    // Taking a run touches it, so an unfinished one must be excluded first to keep its age.
    if (!isFinished(store, id)) return false;
    const run = store.open(id);
    let isOver = false;
    try {
      if (!endedWell(run.records)) return false;
      isOver = true;
      const grave = join(store.place, `${graveStart}${process.pid}-${process.hrtime.bigint()}`);
      platform.files.rename(store.folderOf(id), grave);
      rmSync(grave, { recursive: true, force: true });
      return true;
    } finally {
      run.release(isOver ? { isOver } : undefined);
    }
  } catch {
    return false;
  }
}

export function endedWell(records: ConstructorParameters<typeof RunLog>[0]): boolean {
  const log = new RunLog(records, new RecordCodec({}));
  return log.damaged.length === 0 && isSettledRun(log);
}

/** Removes what killed processes have left. */
function sweep(store: FileStore): void {
  store.sweepDrafts();
  for (const name of namesIn(store.place))
    if (name.startsWith(graveStart)) rmSync(join(store.place, name), { recursive: true, force: true });
}
