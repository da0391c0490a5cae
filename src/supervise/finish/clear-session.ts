/** Removes what a session of a program that ended well leaves behind, so that nothing is there when all is green. */
import { existsSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sessionName } from '../../journal/layout/session.ts';
import { removeDiagnosticsFolder } from '../evidence/diagnostics.ts';

/** Never throws: what can't be removed now is swept later. */
export function clearSession(folder: string, id: string): void {
  try {
    removeFolder(folder);
    removeDiagnosticsFolder(id);
    // `sessions` and the dump folder, when they are empty.
    rmdirSync(dirname(folder));
    rmdirSync(dirname(dirname(folder)));
  } catch {
    // Others are in there; or a later sweep finds it.
  }
}

/** Most sessions have the one file; rmSync takes milliseconds to load what it needs. */
function removeFolder(folder: string): void {
  try {
    unlinkSync(join(folder, sessionName));
    for (const name of readdirSync(folder)) unlinkSync(join(folder, name));
    rmdirSync(folder);
  } catch {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
