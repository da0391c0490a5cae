/**
 * A session file that is written before the program runs, if the dump folder exists: a process that is killed before its flight
 * recorder is open, and before anything can answer a signal, would otherwise leave nothing. The flight recorder takes it over;
 * a program that ends earlier removes it. Its command line is left out, because the redactor is not loaded at the start.
 */
import { dirname, join } from 'node:path';
import { testRunVariable } from '../../bundle/layout/tests.ts';
import { isoTime, nowMs, rmdirSync, statSync, unlinkSync } from '../../bundle/write/system.ts';
import { sessionName, sessionSchema, sessionVariable, sessionVersion } from '../../journal/layout/session.ts';
import { sessionFolder, writeSession } from '../../journal/write/session-file.ts';
import { platform } from '../../platform/index.ts';
import { readKernelRandom } from '../../platform/kernel-random.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { mayBeToken } from '../../redaction/names/may-be-token.ts';
import { workingFolder } from '../host/working-folder.ts';
import { plainName } from '../install/plain-name.ts';

export interface StartMark {
  /** Of the session. */
  id: string;
  /** Throws a system error. */
  remove(): void;
}

/** Undefined if there is none: without a dump folder of its own or a kernel's random source, in a test, and if a supervisor has written it. */
export function leaveStartMark(dir: string): StartMark | undefined {
  const { env, pid } = process;
  const id = isOwnFolder(dir) && env[testRunVariable] === undefined && readKernelRandom(8)?.toString('hex');
  if (!id || isSupervised(dir, env[sessionVariable])) return undefined;
  const folder = sessionFolder(dir, id);
  const program = publicOr('node', plainName(process.argv, env));
  const parentSession = env[sessionVariable];
  const startTicks = platform.startToken(pid);
  const bootId = platform.bootId();
  const pidNamespace = platform.pidNamespace('self');
  writeSession(folder, {
    schema: sessionSchema,
    version: sessionVersion,
    id,
    state: 'alive',
    process: {
      ...{ pid, parentPid: process.ppid, hostname: platform.hostName() },
      ...(startTicks !== undefined && { startTicks }),
      ...(bootId !== undefined && { bootId }),
      ...(pidNamespace !== undefined && { pidNamespace }),
    },
    memory: {},
    ...{ program, command: [program], cwd: publicOr('', workingFolder()), nodeVersion: process.version },
    startedAt: isoTime(nowMs() - process.uptime() * 1000),
    heartbeatMs: 0,
    ...(parentSession !== undefined && { parentSession }),
  });
  return {
    id,
    remove() {
      unlinkSync(join(folder, sessionName));
      rmdirSync(folder);
      // Fails if it is not empty.
      rmdirSync(dirname(folder));
    },
  };
}

/** What it would tell is known, or nobody's business any more. Never throws. */
export function removeStartMark(surroundings: { startMark?: StartMark }): void {
  const { startMark } = surroundings;
  delete surroundings.startMark;
  try {
    startMark?.remove();
  } catch {
    // Other sessions are there, or the program has replaced what this calls.
  }
}

/**
 * The mark may create the folder of sessions, which only this user can write to. Root may become another user before the flight
 * recorder is opened: so root leaves none where others can write.
 */
function isOwnFolder(dir: string): boolean {
  const user = process.geteuid?.();
  const found = statSync(dir, { throwIfNoEntry: false });
  return found !== undefined && found.uid === user && (user !== 0 || (found.mode & 0o022) === 0);
}

const publicOr = (other: string, name: string): string => (mayBeToken(name) ? other : name);

/** A supervisor has opened a session for this very process, rather than for its parent. */
function isSupervised(dir: string, id: string | undefined): boolean {
  if (id === undefined || !/^[0-9a-f]{16}$/.test(id)) return false;
  return readSmallFile(join(sessionFolder(dir, id), sessionName))?.includes(`"pid":${process.pid},`) ?? false;
}
