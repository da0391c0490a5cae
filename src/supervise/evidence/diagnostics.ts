/**
 * The private folder for what Node itself writes at a fatal error. It is in the clear (environment, command line), so
 * it lies in memory where the machine has a folder there, bears the session's id, and is emptied as soon as it was read.
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
import { type Pid, platform } from '../../platform/index.ts';
import { isAlive, ownerName, tryLockSession, unlockSession } from '../finish/finisher-lock.ts';
import { type ScrubbedReport, scrubReport } from '../scrub/scrub-report.ts';

/** In the folder: a mark that names the supervisor that made it, `<its name>:<its pid namespace>`. */
const ownerLink = 'owner';
const scrubbedSuffix = '.scrubbed.json';
const folderName = new RegExp(`^${diagnosticsPrefix}[0-9a-f]{16}$`);
const beginningMs = 10_000;
/** PROC_PID_INIT_INO (include/linux/proc_ns.h): from there every process is seen. */
const firstNamespace = '4026531836';
/** A session that nobody has swept for so long. */
const forgottenMs = 7 * 24 * 3_600_000;
const largestEnvironment = 2 * 1024 * 1024;
const largestReport = 64 * 1024 * 1024;

/**
 * Makes the folder; undefined where no place can be written, or none that `suits`. With a recipient only memory is a
 * place: what Node writes there is clear.
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
      // No such place, or not ours: the next.
    }
  }
  return undefined;
}

const everyPlace = (): string[] => [...platform.files.memoryFolders, tmpdir()];

/** The newest fatal report that Node wrote for this pid, without what is in the clear; undefined without one. */
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
    // The usual case goes without the milliseconds that rmSync takes to load.
    if (readdirSync(folder).every((name) => name === ownerLink)) removeEmpty(folder);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function removeEmpty(folder: string): void {
  try {
    unlinkSync(join(folder, ownerLink));
  } catch {
    // Its maker was killed before the link was there.
  }
  rmdirSync(folder);
}

/**
 * What supervisors that were killed have left, of whatever dump folder: reports are scrubbed where they lie, so that a
 * sweep of their session still finds them, and all else goes. What a living program may still write to stays.
 */
export function scrubAbandonedFolders(scrub: (text: string) => string): void {
  for (const folder of everyPlace().flatMap(foldersIn)) {
    try {
      if (isAbandoned(folder)) scrubAlone(folder, scrub);
    } catch {
      // Somebody has taken it away.
    }
  }
}

/**
 * Of two at once, one would take the folder for empty in the moment when the other has only taken the clear report away.
 * One that is scrubbed is not touched: its age counts.
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
    // Being made just now, or scrubbed already.
    if (ageMs(folder) < beginningMs) return false;
  }
  const [bootId = '', pid, startTicks, namespace] = owner.split(':');
  if (isHidden(bootId, namespace)) return false;
  return !isAlive([bootId, pid, startTicks].join(':')) && !isInUse(folder);
}

/** Containers may share /dev/shm: who lives in another pid namespace can't be told from the dead. */
function isHidden(bootId: string, namespace: string | undefined): boolean {
  const own = namespaceOf('self');
  if (!namespace || namespace === own || bootId !== currentBootId()) return false;
  return own !== firstNamespace || pids().some((pid) => namespaceOf(pid) === namespace);
}

/** Its number; empty for a process that is gone or somebody else's. */
function namespaceOf(pid: Pid): string {
  return /\d+/.exec(platform.pidNamespace(pid) ?? '')?.[0] ?? '';
}

const pids = (): number[] => platform.processes().map(({ pid }) => pid);

/** A program that outlives its supervisor has the folder's path in the variables that it was started with. */
function isInUse(folder: string): boolean {
  return pids().some((pid) => platform.processFile(pid, 'environ', largestEnvironment)?.includes(folder));
}

/** The raw file is gone before the scrubbed one is there: killed in between, we lose a report and give nothing away. */
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

/** A link in their place, or a stranger's folder, is not looked into. */
function ownFolders(id: string, places = everyPlace()): string[] {
  return places
    .map((place) => join(place, diagnosticsPrefix + id))
    .filter((folder) => {
      // Others come and go while we look.
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
