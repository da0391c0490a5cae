/**
 * Notes in the session of a child process how it ended: a process that is killed can't, and only its parent learns it. Finds the
 * session by the child's pid, in the parent's own dump folder; a child with another one is not found.
 */
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { shellBase, signals } from '../../platform/signals.ts';
import { listFolder, readSmallFile } from '../../platform/small-file.ts';
import {
  type ObservedExit,
  observedExitName,
  type SessionFacts,
  sessionName,
  sessionsFolder,
} from '../layout/session.ts';

/** A child of this process: the properties of Node's ChildProcess. */
export interface EndedChild {
  pid?: number | undefined;
  exitCode: number | null;
  signalCode: string | null;
  /** A signal was sent to it. */
  killed: boolean;
}

/** Sessions that nobody has swept; each is a small file to read, while the program waits. */
const mostSessions = 300;
/** Clocks are adjusted, and a session is opened after its process was started. */
const slackMs = 1000;

/**
 * Only of a signal: everything else a process reports itself. `startedAtMs`: when the child was started, because an older session
 * with its pid is that of another process. Throws system errors.
 */
export function noteExitOfChild(dir: string, child: EndedChild, startedAtMs: number): void {
  const { pid, exitCode, signalCode, killed } = child;
  if (
    pid === undefined ||
    !(signalCode !== null || (exitCode ?? 0) > shellBase || (killed && exitCode === null))
  )
    return;
  const at = new Date().toISOString();
  const parent = join(dir, sessionsFolder);
  for (const id of listFolder(parent).slice(0, mostSessions)) {
    const facts = readFacts(join(parent, id));
    // A supervisor sees the end itself.
    if (!facts || facts.supervisor !== undefined || Date.parse(facts.startedAt) < startedAtMs - slackMs)
      continue;
    const exit = facts.process.pid === pid ? ownExit(child) : exitBelow(child, facts);
    if (exit)
      writeFileSync(join(parent, id, observedExitName), JSON.stringify({ at, ...exit }), { mode: 0o600 });
  }
}

function ownExit({ exitCode, signalCode, killed }: EndedChild): Omit<ObservedExit, 'at'> | undefined {
  if (exitCode !== null) return undefined;
  return { ...(signalCode !== null && { signal: signalCode }), ...(killed && { byParent: true }) };
}

/**
 * The child is a shell, and the session that of its command, which is gone too. A shell that was killed by another signal than
 * that of a terminal says nothing about its command.
 */
function exitBelow(
  { pid, exitCode, signalCode }: EndedChild,
  { process: { pid: pidBelow, parentPid } }: SessionFacts,
): Omit<ObservedExit, 'at'> | undefined {
  if (parentPid !== pid || platform.isThere(pidBelow)) return undefined;
  if (signalCode === signals.interrupt) return { signal: signalCode, inferred: true };
  const number = (exitCode ?? 0) - shellBase;
  const signal = Object.entries(constants.signals).find((entry) => entry[1] === number)?.[0];
  return signal === undefined || exitCode === null ? undefined : { signal, code: exitCode, inferred: true };
}

function readFacts(folder: string): SessionFacts | undefined {
  try {
    const facts = JSON.parse(readSmallFile(join(folder, sessionName)) ?? '') as SessionFacts;
    return typeof facts.process?.pid === 'number' && facts.state === 'alive' ? facts : undefined;
  } catch {
    return undefined;
  }
}
