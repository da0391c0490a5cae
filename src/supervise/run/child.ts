/**
 * Starts the program and waits for its end. The child inherits our standard streams and process group. Its session is written
 * right after the spawn, so that a trace of it remains even if we die. The session's folder is there before: on a busy machine the
 * program may run before we do, and what it withholds is handed over there.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import type { SessionFacts } from '../../journal/layout/session.ts';
import { ownerName } from '../../journal/write/owner.ts';
import { describeSession } from '../../journal/write/session.ts';
import { sessionFolder, writeSession } from '../../journal/write/session-file.ts';
import { newId } from '../../journal/write/session-id.ts';
import { platform } from '../../platform/index.ts';
import { publicName } from '../../redaction/public-name.ts';
import { armEnvironment } from '../arm.ts';
import { makeDiagnosticsFolder, removeDiagnosticsFolder } from '../evidence/diagnostics.ts';
import { heartbeatFile, heartbeatVariable } from '../health/heartbeat-file.ts';
import { armCore, type CoreArming } from '../native/core-limit.ts';
import { noteExpectedCore } from '../native/expected-core.ts';
import { makeWithheldKey, readWithheld } from '../scrub/withheld-of-lives.ts';
import { nameOfCommand } from './command-name.ts';
import { inheritedStdio } from './inherited.ts';
import type { ChildExit } from './restart-policy.ts';
import type { CoreWish } from './run-options.ts';

export interface ChildOptions {
  dir: string;
  command: readonly string[];
  /** Have the kernel write a core file at a native crash. */
  core: CoreWish;
  /** Variables for this run only. */
  extra: Record<string, string>;
  /** Pass the path of a file that the program may touch as a sign of life. */
  heartbeat: boolean;
  /** Variables that make the program wait at a fault until it has been read. */
  hold?: Record<string, string>;
  /** Additional Node options. */
  nodeOptions?: readonly string[];
  /** Default: ours. The same applies to the streams and the working directory. */
  environment?: NodeJS.ProcessEnv;
  stdio?: StdioOptions;
  cwd?: string;
}

export interface RunningChild {
  pid: number;
  /** Absent if the dump folder is not writable; the program runs anyway. */
  session?: { id: string; folder: string; facts: SessionFacts };
  /** The folder for Node's fatal-error report. */
  diagnostics: string | undefined;
  /** Whether the kernel will write a core of it. */
  core: CoreArming;
  ended: Promise<ChildExit>;
  /** The values that this life and the earlier ones withhold. */
  withheld(): string[];
}

/** Rejects with `not-found` or `unwritable` (a file that can't be executed), where a shell would exit with 127 or 126. */
export async function startChild(options: ChildOptions): Promise<RunningChild> {
  const id = newId();
  const folder = sessionFolder(options.dir, id);
  const arming = {
    dir: options.dir,
    sessionId: id,
    diagnostics: makeDiagnosticsFolder(id, options.environment),
    extra: options.extra,
    ...(options.nodeOptions && { nodeOptions: options.nodeOptions }),
    ...(options.hold && { hold: options.hold }),
    withheldKey: makeWithheldKey(folder, id),
    ...(options.heartbeat && { heartbeat: { [heartbeatVariable]: heartbeatFile(folder) } }),
  };
  const removeFolder = makeFolder(folder);
  const [file = '', ...words] = options.command;
  const { environment = process.env, stdio = inheritedStdio(), cwd } = options;
  const env = armEnvironment(environment, arming);
  const channel = stdio.includes('ipc') ? await import('./pass-messages.ts') : undefined;
  const serialization = channel?.parentSerialization(platform.processFile('self', 'environ') ?? '');
  const start = platform.command(file, words, env);
  const { windowsVerbatimArguments } = start;
  const argv0 = start.file;
  const child = spawn(start.file, start.words, {
    stdio,
    env,
    argv0,
    cwd,
    serialization,
    windowsVerbatimArguments,
  });
  const passed = channel?.passMessages(child);
  const ended = waitForEnd(child).then(async (exit) => {
    await passed;
    return exit;
  });
  const session = child.pid === undefined ? undefined : tryOpenSession(options, id, child.pid);
  // If there is a session, the folder is removed when the session is cleared or finished.
  if (!session) ended.catch(() => {}).finally(() => removeDiagnosticsFolder(id));
  if (child.pid === undefined) {
    removeFolder();
    await ended;
    throw new AgentdumpError('not-found', `${file} could not be started`, { path: file });
  }
  const core = options.core === 'off' ? unwanted : armCore(child.pid, process.cwd());
  if (core === 'ours' && options.core === 'digest' && session) tryNoteCore(session, file);
  const { diagnostics } = arming;
  return { pid: child.pid, ...(session && { session }), diagnostics, core, ended, withheld: readWithheld };
}

const unwanted: CoreArming = { reason: 'none was wanted (--no-core)', obstacle: 'off' };

function waitForEnd(child: ChildProcess): Promise<ChildExit> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(startFailure(child.spawnfile, error)));
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }));
  });
}

function startFailure(path: string, error: NodeJS.ErrnoException): AgentdumpError {
  const code = error.code === 'ENOENT' ? 'not-found' : 'unwritable';
  const words = error.code === 'ENOENT' ? 'command not found' : `it can't be started: ${error.code}`;
  return new AgentdumpError(code, `${path}: ${words}`, { path, reason: error.code ?? '' }, error);
}

/** Returns a function that removes the folders that were made and are still empty. Neither throws. */
function makeFolder(folder: string): () => void {
  try {
    const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
    return () => removeEmpty(folder, first);
  } catch {
    return () => {};
  }
}

/** From `folder` up to `first`. */
function removeEmpty(folder: string, first: string | undefined): void {
  if (first === undefined) return;
  try {
    rmdirSync(folder);
    if (folder !== first) removeEmpty(dirname(folder), first);
  } catch {
    // It is in use.
  }
}

function tryOpenSession(options: ChildOptions, id: string, pid: number): RunningChild['session'] {
  try {
    const folder = sessionFolder(options.dir, id);
    const program = nameOfCommand(options.command);
    const facts = describeSession({
      id,
      pid,
      program,
      // The whole command is redacted only when it is needed, after a death.
      command: [program],
      cwd: publicName(options.cwd ?? process.cwd()),
      heartbeatMs: 0,
      nodeVersion: 'unknown',
      supervisor: ownerName(process.pid),
    });
    writeSession(folder, facts);
    return { id, folder, facts };
  } catch {
    return undefined;
  }
}

function tryNoteCore({ folder, facts }: NonNullable<RunningChild['session']>, executable: string): void {
  try {
    const { process: own, startedAt } = facts;
    noteExpectedCore(folder, {
      pid: own.pid,
      cwd: process.cwd(),
      executable,
      startedAtMs: Date.parse(startedAt),
    });
  } catch {
    // The disk is full. Then only this supervisor knows about the core.
  }
}
