/**
 * Counts how often programs were started under `agentdump run`, so that a store can say how many of its starts a fault ends.
 * A line for each start, and for each bundle that one ended in. A file for each UTC day: the lines of one day are an absolute
 * count, which can be sent again without counting twice. Lines are appended whole, by any number of supervisors.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startsFolder } from '../layout/bundle.ts';
import { readBundleName } from '../write/bundle-name.ts';
import { loadCrypto } from '../write/system.ts';

/** Older days are removed, and not accepted by a store, so that a day's count does not change for ever. */
export const startDays = 31;
const dayMs = 24 * 60 * 60_000;

/** A log: the id in its name tells it from another one of the same day, such as that of a folder which was removed. */
const logName = /^(\d{4}-\d{2}-\d{2})-([0-9a-f]{16})\.log$/;
const lineForm = /^(?:start ([0-9a-f]{16})|end ([0-9a-f]{8})) (\S+)$/;

/** The starts of one program on one day, as one log has counted them. */
export interface DayOfStarts {
  log: string;
  /** YYYY-MM-DD in UTC. */
  day: string;
  program: string;
  count: number;
}

export interface Starts {
  days: DayOfStarts[];
  /**
   * The program of the start that a bundle ended, under which it was counted: a supervisor may have started `npm`. Undefined if
   * nobody counted it.
   */
  programOf(bundle: { name: string; session: string | undefined }): string | undefined;
}

interface Started {
  session: string;
  program: string;
}

/** Never throws: the program is started anyway, and not counted. */
export function noteStart(dir: string, { session, program }: Started): void {
  append(dir, `start ${session}`, program);
}

/**
 * A bundle that a start ended in. Most name their session, but not those of a program that died early or of a process below the
 * program. Never throws.
 */
export function noteEnd(dir: string, { bundle, program }: { bundle: string; program: string }): void {
  const shortId = readBundleName(bundle)?.shortId;
  if (shortId !== undefined) append(dir, `end ${shortId}`, program);
}

export function readStarts(dir: string): Starts {
  const days: DayOfStarts[] = [];
  const bySession = new Map<string, string>();
  const byBundle = new Map<string, string>();
  for (const { name, day, log } of listLogs(dir)) {
    const counts = new Map<string, number>();
    for (const line of readLines(join(dir, startsFolder, name))) {
      const [, session, bundle, word = ''] = lineForm.exec(line) ?? [];
      const program = decode(word);
      if (bundle !== undefined) byBundle.set(bundle, program);
      if (session === undefined) continue;
      bySession.set(session, program);
      counts.set(program, (counts.get(program) ?? 0) + 1);
    }
    for (const [program, count] of counts) days.push({ log, day, program, count });
  }
  return {
    days,
    programOf: ({ name, session = '' }) =>
      byBundle.get(readBundleName(name)?.shortId ?? '') ?? bySession.get(session),
  };
}

function append(dir: string, what: string, program: string): void {
  try {
    const day = new Date().toISOString().slice(0, 10);
    const log = listLogs(dir).find((one) => one.day === day)?.name ?? begin(dir, day);
    appendFileSync(join(dir, startsFolder, log), `${what} ${encodeURIComponent(program)}\n`, { mode: 0o600 });
  } catch {
    // A full or read-only disk.
  }
}

/** Two supervisors may begin one each. */
function begin(dir: string, day: string): string {
  const folder = join(dir, startsFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const old of listLogs(dir))
    if (Date.parse(day) - Date.parse(old.day) > startDays * dayMs) rmSync(join(folder, old.name));
  return `${day}-${loadCrypto().randomBytes(8).toString('hex')}.log`;
}

function listLogs(dir: string): { name: string; day: string; log: string }[] {
  let names: string[];
  try {
    names = readdirSync(join(dir, startsFolder)).sort();
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const [, day, log] = logName.exec(name) ?? [];
    return day !== undefined && log !== undefined ? [{ name, day, log }] : [];
  });
}

/** Without a last line that was cut. */
function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
