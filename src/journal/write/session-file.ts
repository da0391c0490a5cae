/** The session file on disk. Each write replaces the whole file. Small, because the preload includes it at every start. */
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { type SessionFacts, sessionName, sessionsFolder } from '../layout/session.ts';

const { mkdirSync, writeFileSync } = process.getBuiltinModule('node:fs');

/** The folder of a session below the dump folder. */
export function sessionFolder(dir: string, id: string): string {
  return join(dir, sessionsFolder, id);
}

/** Writes the session file of this folder, which is created if absent. Throws system errors. */
export function writeSession(folder: string, facts: SessionFacts): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, sessionName);
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(facts), { mode: 0o600 });
  platform.files.rename(unfinished, path);
}
