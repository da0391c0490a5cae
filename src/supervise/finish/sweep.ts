/**
 * Sweeps the sessions of a dump folder: a process that died without a bundle gets one, the session of one that ended well is
 * removed, and living ones are skipped. An error in one session does not affect the others.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sessionName, sessionsFolder } from '../../journal/layout/session.ts';
import { listSessions, sessionId } from '../../journal/read/session.ts';
import { scrubAbandonedFolders } from '../evidence/diagnostics.ts';
import type { FinishOptions, FinishResult } from './finish-options.ts';
import { finishSession } from './finisher.ts';

export interface SweptSession {
  /** The session's id. */
  id: string;
  result: FinishResult | { outcome: 'failed'; because: string };
}

/** A removal of this age, and a folder without its session's file, was interrupted by a death. */
const staleMs = 60_000;

/** `isMeant` selects sessions by their folder. */
export function sweepSessions(
  options: Omit<FinishOptions, 'folder'>,
  isMeant: (folder: string) => boolean = () => true,
): SweptSession[] {
  removeLeftovers(join(options.dir, sessionsFolder));
  const swept = listSessions(options.dir)
    .filter(isMeant)
    .map((folder) => ({
      id: basename(folder),
      result: tryFinish(options, folder),
    }));
  scrubAbandonedFolders((text) => options.scrubber.text(text));
  return swept;
}

function tryFinish(options: Omit<FinishOptions, 'folder'>, folder: string): SweptSession['result'] {
  try {
    return finishSession({ ...options, folder });
  } catch (error) {
    return { outcome: 'failed', because: error instanceof Error ? error.message : String(error) };
  }
}

function removeLeftovers(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      const path = join(parent, name);
      const isLeft =
        name.endsWith('.removed') || (sessionId.test(name) && !existsSync(join(path, sessionName)));
      if (isLeft && Date.now() - statSync(path).mtimeMs > staleMs)
        rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // There are no sessions, or another process cleans up concurrently.
  }
}
