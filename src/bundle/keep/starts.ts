/**
 * Counts how often programs were started under `agentdump run`, so that a store can say how many of its starts a fault ends.
 * A line for each start, and for each bundle that one ended in, appended whole by any number of supervisors. A log for each UTC
 * day and host: only that host appends to it, so wherever the folder is mounted or copied to, its lines are the same absolute
 * count or an earlier one, which can be told any number of times. A copy on a machine of the same name is not told apart.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from '../../platform/kernel-random.ts';
import { startsFolder } from '../layout/bundle.ts';
import { readBundleName } from '../write/bundle-name.ts';

/** Older days are removed, and not accepted by a store, so that a day's count does not change for ever. */
export const startDays = 31;
const dayMs = 24 * 60 * 60_000;

/**
 * About 50,000 starts. Of further ones only their program is noted: that they were not counted. Otherwise a program that is
 * started ten times a second would fill a gigabyte a month.
 */
export const mostLogBytes = 2 << 20;

/** The id tells a log from another one of the same day and host, such as that of a folder which was removed. */
const logName = /^(\d{4}-\d{2}-\d{2})-([0-9a-f]{16})-(.+)\.log$/;
const lineForm = /^(?:start [0-9a-f]{16}|(missed)) (\S+)$/;
const sessionForm = /^[0-9a-f]{16}$/;

/** The starts of one program on one day, as one log has counted them. */
export interface CountedStarts {
  log: string;
  /** Of the log, which may have been moved to another one. */
  host: string;
  /** YYYY-MM-DD in UTC. */
  day: string;
  program: string;
  count: number;
  /** There were more, which were not counted. */
  isAtLeast?: true;
}

/**
 * The program of the start that a bundle ended, under which it was counted: a supervisor may have started `npm`. Undefined if
 * nobody counted it.
 */
export type ProgramOf = (bundle: { name: string; session: string | undefined }) => string | undefined;

interface Started {
  session: string;
  program: string;
}

/** Never throws: the program is started anyway, and not counted. */
export function noteStart(dir: string, { session, program }: Started): void {
  append(dir, (log) => {
    const word = encodeURIComponent(program);
    if (!isFull(log)) return `start ${session} ${word}\n`;
    const line = `missed ${word}\n`;
    return readFileSync(log, 'latin1').includes(`\n${line}`) ? '' : line;
  });
}

/**
 * A bundle that a start ended in. Most name their session, but not those of a program that died early or of a process below the
 * program. Never throws.
 */
export function noteEnd(dir: string, { bundle, program }: { bundle: string; program: string }): void {
  const shortId = readBundleName(bundle)?.shortId;
  if (shortId !== undefined) append(dir, () => `end ${shortId} ${encodeURIComponent(program)}\n`);
}

export function readStarts(dir: string): CountedStarts[] {
  return listLogs(dir).flatMap(({ path, ...log }) => {
    const counts = new Map<string, number>();
    const missed = new Set<string>();
    // Without a last line that was cut.
    for (const line of readText(path).split('\n').slice(0, -1)) {
      const [, isMissed, word] = lineForm.exec(line) ?? [];
      if (word === undefined) continue;
      counts.set(word, (counts.get(word) ?? 0) + (isMissed ? 0 : 1));
      if (isMissed) missed.add(word);
    }
    return [...counts].map(([word, count]) => {
      const program = decode(word);
      return { ...log, program, count, ...(missed.has(word) && { isAtLeast: true as const }) };
    });
  });
}

/** Reads the logs at the first question, and then answers as they were. */
export function programsOf(dir: string): ProgramOf {
  let texts: string[] | undefined;
  const find = (key: string): string | undefined => {
    texts ??= listLogs(dir).map(({ path }) => `\n${readText(path)}`);
    for (const text of texts) {
      const at = text.indexOf(`\n${key} `);
      const end = text.indexOf('\n', at + 1);
      if (at >= 0 && end > 0) return decode(text.slice(at + key.length + 2, end));
    }
    return undefined;
  };
  return ({ name, session = '' }) => {
    const shortId = readBundleName(name)?.shortId;
    const byBundle = shortId === undefined ? undefined : find(`end ${shortId}`);
    return byBundle ?? (sessionForm.test(session) ? find(`start ${session}`) : undefined);
  };
}

function append(dir: string, lineFor: (log: string) => string): void {
  try {
    const day = new Date().toISOString().slice(0, 10);
    // As part of a file's name, which has a limit. Nobody decodes it.
    const host = encodeURIComponent(hostname()).slice(0, 100) || 'unknown';
    const own = listLogs(dir).find((one) => one.day === day && one.host === host);
    const log = own?.path ?? begin(dir, day, host);
    appendFileSync(log, lineFor(log), { mode: 0o600 });
  } catch {
    // A full or read-only disk.
  }
}

/** Two supervisors may begin one each. */
function begin(dir: string, day: string, host: string): string {
  const folder = join(dir, startsFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const old of listLogs(dir))
    if (Date.parse(day) - Date.parse(old.day) > startDays * dayMs) rmSync(old.path);
  return join(folder, `${day}-${randomBytes(8).toString('hex')}-${host}.log`);
}

interface Log {
  path: string;
  day: string;
  log: string;
  host: string;
}

function listLogs(dir: string): Log[] {
  const folder = join(dir, startsFolder);
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const [, day, log, host] = logName.exec(name) ?? [];
    return day && log && host ? [{ path: join(folder, name), day, log, host }] : [];
  });
}

const isFull = (log: string): boolean =>
  (statSync(log, { throwIfNoEntry: false })?.size ?? 0) >= mostLogBytes;

/** All in it is ASCII. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
