/**
 * The private folder for what Node itself writes at a fatal error. It is in the clear (environment, command line), so
 * it lies in memory where the machine has /dev/shm, bears the session's id, and is emptied as soon as it was read.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnosticsPrefix } from '../journal/layout-session.ts';
import { type ScrubbedReport, scrubReport } from './scrub-report.ts';

const sharedMemory = '/dev/shm';
const largestReport = 64 * 1024 * 1024;

/** Makes the folder; undefined where neither place can be written. */
export function makeDiagnosticsFolder(id: string): string | undefined {
  for (const place of [sharedMemory, tmpdir()]) {
    const folder = join(place, diagnosticsPrefix + id);
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch {
      // No such place, or not ours: the next.
    }
  }
  return undefined;
}

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
    // An empty one, the usual case, goes without the milliseconds that rmSync takes to load.
    if (readdirSync(folder).length === 0) rmdirSync(folder);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/** A link in their place, or a stranger's folder, is not looked into. */
function ownFolders(id: string): string[] {
  return [sharedMemory, tmpdir()]
    .map((place) => join(place, diagnosticsPrefix + id))
    .filter((folder) => existsSync(folder))
    .filter((folder) => {
      const stat = lstatSync(folder);
      return stat.isDirectory() && stat.uid === process.geteuid?.();
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
