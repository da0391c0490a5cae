/** Removes the session of a program that ended well, so that a successful run leaves nothing behind. */
import { existsSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sessionName } from '../../journal/layout/session.ts';
import { removeDiagnosticsFolder } from '../evidence/diagnostics.ts';

/** Never throws: what can't be removed now is removed by a later sweep. */
export function clearSession(folder: string, id: string): void {
  try {
    removeFolder(folder);
    removeDiagnosticsFolder(id);
    // Fails if `sessions` or the dump folder is not empty.
    rmdirSync(dirname(folder));
    rmdirSync(dirname(dirname(folder)));
  } catch {
    // The folder has other contents, or a later sweep removes it.
  }
}

/** Most sessions have one file only; this saves the milliseconds that loading rmSync takes. */
function removeFolder(folder: string): void {
  try {
    unlinkSync(join(folder, sessionName));
    for (const name of readdirSync(folder)) unlinkSync(join(folder, name));
    rmdirSync(folder);
  } catch {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
