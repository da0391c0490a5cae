/**
 * The private folder for what Node itself writes at a fatal error. The contents are unredacted (environment, command line),
 * so the folder is in memory if the machine has a memory file system, is named after the session, and is removed as soon as
 * it was read.
 */

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnosticsPrefix, finisherLockName } from '../../journal/layout/session.ts';
import { currentBootId } from '../../journal/read/session.ts';
import { isAlive, ownerName } from '../../journal/write/owner.ts';
import { type Pid, platform } from '../../platform/index.ts';
import { tryLockSession, unlockSession } from '../finish/finisher-lock.ts';
import { type ScrubbedReport, scrubReport } from '../scrub/scrub-report.ts';

/** Mark in the folder with the supervisor that created it: `<owner name>:<its pid namespace>`. */
const ownerLink = 'owner';
const scrubbedSuffix = '.scrubbed.json';
const folderName = new RegExp(`^${diagnosticsPrefix}[0-9a-f]{16}$`);
const beginningMs = 10_000;
/** PROC_PID_INIT_INO (include/linux/proc_ns.h): the initial pid namespace, which shows all processes. */
const firstNamespace = '4026531836';
/** Age from which an unswept session counts as forgotten. */
const forgottenMs = 7 * 24 * 3_600_000;
const largestEnvironment = 2 * 1024 * 1024;
const largestReport = 64 * 1024 * 1024;

/**
 * Creates the folder; undefined if there is no writable place that `suits`. With a recipient only places in memory are used,
 * because Node's output is unencrypted.
 */
export function makeDiagnosticsFolder(
  id: string,
  { AGENTDUMP_RECIPIENT: recipient }: NodeJS.ProcessEnv = process.env,
  suits: (place: string) => boolean = () => true,
): string | undefined {
  for (const place of recipient?.trim() ? platform.files.memoryFolders : everyPlace()) {
    const folder = join(place, diagnosticsPrefix + id);
    try {
      if (!suits(place)) continue;
      mkdirSync(folder, { mode: 0o700 });
      platform.files.makeMark(`${ownerName(process.pid)}:${namespaceOf('self')}`, join(folder, ownerLink));
      return folder;
    } catch {
      // The place does not exist or is not writable; try the next one.
    }
  }
  return undefined;
}

const everyPlace = (): string[] => [...platform.files.memoryFolders, tmpdir()];

/** The newest fatal report that Node wrote for this pid, redacted; undefined if there is none. */
export function readFatalReport(
  id: string,
  pid: number,
  scrub: (text: string) => string,
): ScrubbedReport | undefined {
  for (const folder of ownFolders(id))
    for (const name of readdirSync(folder).sort().reverse()) {
      if (!name.startsWith('report.') || !name.includes(`.${pid}.`)) continue;
      const report = tryRead(join(folder, name), scrub);
      if (report) return report;
    }
  return undefined;
}

export function removeDiagnosticsFolder(id: string): void {
  for (const folder of ownFolders(id)) {
    // In the usual case this saves the milliseconds that loading rmSync takes.
    if (readdirSync(folder).every((name) => name === ownerLink)) removeEmpty(folder);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function removeEmpty(folder: string): void {
  try {
    unlinkSync(join(folder, ownerLink));
  } catch {
    // The creator was killed before it made the mark.
  }
  rmdirSync(folder);
}

/**
 * Cleans up after supervisors that were killed, of any dump folder: reports are redacted in place, so that a sweep of their
 * session still finds them, and everything else is removed. Folders that a living program may still write to are skipped.
 */
export function scrubAbandonedFolders(scrub: (text: string) => string): void {
  for (const folder of everyPlace().flatMap(foldersIn)) {
    try {
      if (isAbandoned(folder)) scrubAlone(folder, scrub);
    } catch {
      // The folder was removed concurrently.
    }
  }
}

/**
 * Locked, because a concurrent call could see the folder as empty, and remove it, after the clear report was deleted and
 * before the redacted one is written. A folder with only redacted reports is not modified, because its age is computed from
 * its modification time.
 */
function scrubAlone(folder: string, scrub: (text: string) => string): void {
  const isForgotten = ageMs(folder) > forgottenMs;
  const names = contentsOf(folder);
  if (names.length > 0 && names.every(isScrubbed) && !isForgotten) return;
  if (!tryLockSession(folder)) return;
  try {
    for (const name of contentsOf(folder)) if (!isScrubbed(name)) scrubFile(folder, name, scrub);
    if (contentsOf(folder).length === 0 || isForgotten) rmSync(folder, { recursive: true, force: true });
  } finally {
    unlockSession(folder);
  }
}

function isScrubbed(name: string): boolean {
  return name.endsWith(scrubbedSuffix);
}

function contentsOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => name !== finisherLockName);
}

function foldersIn(place: string): string[] {
  try {
    const names = readdirSync(place).filter((name) => folderName.test(name));
    return names.flatMap((name) => ownFolders(name.slice(diagnosticsPrefix.length), [place]));
  } catch {
    return [];
  }
}

function isAbandoned(folder: string): boolean {
  let owner = '';
  try {
    owner = platform.files.readMark(join(folder, ownerLink));
  } catch {
    // It is being created, or has been redacted already.
    if (ageMs(folder) < beginningMs) return false;
  }
  const [bootId = '', pid, startTicks, namespace] = owner.split(':');
  if (isHidden(bootId, namespace)) return false;
  return !isAlive([bootId, pid, startTicks].join(':')) && !isInUse(folder);
}

/** Whether the owner may live in a pid namespace that we can't see. Containers may share /dev/shm. */
function isHidden(bootId: string, namespace: string | undefined): boolean {
  const own = namespaceOf('self');
  if (!namespace || namespace === own || bootId !== currentBootId()) return false;
  return own !== firstNamespace || pids().some((pid) => namespaceOf(pid) === namespace);
}

/** Inode number of the pid namespace; empty if the process has ended or belongs to another user. */
function namespaceOf(pid: Pid): string {
  return /\d+/.exec(platform.pidNamespace(pid) ?? '')?.[0] ?? '';
}

const pids = (): number[] => platform.processes().map(({ pid }) => pid);

/** A program that outlives its supervisor has the folder's path in its initial environment. */
function isInUse(folder: string): boolean {
  return pids().some((pid) => platform.processFile(pid, 'environ', largestEnvironment)?.includes(folder));
}

/**
 * The clear file is removed before the redacted one is written: if we are killed in between, a report is lost, but nothing
 * leaks.
 */
function scrubFile(folder: string, name: string, scrub: (text: string) => string): void {
  const path = join(folder, name);
  const report = name.startsWith('report.') ? tryRead(path, scrub) : undefined;
  rmSync(path, { recursive: true, force: true });
  if (report)
    writeFileSync(path.replace(/(?:\.json)?$/, scrubbedSuffix), report.text, { mode: 0o600, flag: 'wx' });
}

function ageMs(path: string): number {
  return Date.now() - statSync(path).mtimeMs;
}

/** Symbolic links and folders of other users are ignored. */
function ownFolders(id: string, places = everyPlace()): string[] {
  return places
    .map((place) => join(place, diagnosticsPrefix + id))
    .filter((folder) => {
      // Folders of others may disappear meanwhile.
      const stat = lstatSync(folder, { throwIfNoEntry: false });
      return stat?.isDirectory() && platform.files.isOwn(stat.uid);
    });
}

function tryRead(path: string, scrub: (text: string) => string): ScrubbedReport | undefined {
  try {
    if (statSync(path).size > largestReport) return undefined;
    return scrubReport(JSON.parse(readFileSync(path, 'utf8')), scrub);
  } catch {
    return undefined;
  }
}
