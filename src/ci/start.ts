/**
 * Starts the command with the preload for all Node processes below it, the run's private folder, and settings that suit CI.
 * Variables set by the user have priority, except for the folder of the bundles, which are collected.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundlesOf } from '../bundle/finished/list.ts';
import { type TestRunOptions, testRunOptionsName, testRunVariable } from '../bundle/layout/tests.ts';
import { AgentdumpError } from '../errors.ts';
import { newId } from '../journal/write/session-id.ts';
import { platform } from '../platform/index.ts';
import { signals } from '../platform/signals.ts';
import { armEnvironment, testsPreloadFile } from '../supervise/arm.ts';
import { makeDiagnosticsFolder } from '../supervise/evidence/diagnostics.ts';
import type { ChildExit } from '../supervise/run/restart-policy.ts';
import type { CiOptions } from './options.ts';

export interface StartedRun {
  pid: number;
  /** Part of the private folder's name. */
  id: string;
  /**
   * The private folder, in memory if the machine has a memory file system. It contains the tests' logs and Node's fatal
   * reports, unredacted.
   */
  folder: string;
  /** Where bundles are written. */
  dir: string;
  /** Names in `dir` that earlier runs left. */
  earlier: ReadonlySet<string>;
  startedMs: number;
  /** Information about the run that was lost. */
  gaps: string[];
  ended: Promise<ChildExit>;
}

/** Rejects with `not-found` or `unwritable`, where a shell would exit with 127 or 126. */
export async function startRun(options: CiOptions): Promise<StartedRun> {
  const id = newId();
  const folder = makeDiagnosticsFolder(id);
  if (folder === undefined)
    throw new AgentdumpError('unwritable', 'no folder for temporary files can be written', {
      path: [...platform.files.memoryFolders, tmpdir()].join(', '),
    });
  const dir = bundlesOf(options.report);
  writeWishes(options, folder);
  const earlier = new Set(existsSync(dir) ? readdirSync(dir) : []);
  const [file = '', ...words] = options.command;
  const env = armedEnvironment(options, id, folder, dir);
  const start = platform.command(file, words, env);
  const { windowsVerbatimArguments } = start;
  const child = spawn(start.file, start.words, { stdio: 'inherit', env, windowsVerbatimArguments });
  const ended = waitForEnd(child, file);
  if (child.pid === undefined) {
    await ended;
    throw new AgentdumpError('not-found', `${file} could not be started`, { path: file });
  }
  return { pid: child.pid, id, folder, dir, earlier, startedMs: performance.now(), gaps: [], ended };
}

/** Read by each process of the run. */
function writeWishes({ onFailure, leakCheck }: CiOptions, folder: string): void {
  const wishes: TestRunOptions = { snapshots: onFailure === 'snapshot', ...(leakCheck && { leakCheck }) };
  if (wishes.snapshots || wishes.leakCheck)
    writeFileSync(join(folder, testRunOptionsName), JSON.stringify(wishes), { mode: 0o600 });
}

function armedEnvironment(options: CiOptions, id: string, folder: string, dir: string): NodeJS.ProcessEnv {
  const extra = {
    // Runners end their workers with SIGTERM. If a signal requires dumps, agentdump ci makes them.
    AGENTDUMP_SIGNALS: 'none',
    // The report decides which exits only pass on another one's status or count failed tests (collect.ts).
    AGENTDUMP_EXITS: 'all',
    // The signal that asks a hanging process for its bundle (dump-tree.ts).
    AGENTDUMP_SNAPSHOT_SIGNAL: signals.askForBundle,
    AGENTDUMP_HEAP: options.heap,
    AGENTDUMP_LOCALS: options.locals ? 'uncaught' : 'off',
    AGENTDUMP_MAX_BUNDLES: '200',
  };
  const armed = armEnvironment(process.env, {
    dir,
    sessionId: id,
    diagnostics: folder,
    preload: testsPreloadFile,
    extra,
  });
  return { ...armed, [testRunVariable]: folder };
}

function waitForEnd(child: ChildProcess, file: string): Promise<ChildExit> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 'not-found' : 'unwritable';
      const words = error.code === 'ENOENT' ? 'command not found' : `it can't be started: ${error.code}`;
      reject(new AgentdumpError(code, `${file}: ${words}`, { path: file, reason: error.code ?? '' }, error));
    });
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }));
  });
}
