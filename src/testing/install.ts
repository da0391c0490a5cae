/**
 * Installs the watch in a thread: its log, the hooks of the detected runner, and the record of a normal exit. A failure does
 * not affect the tests and prints nothing on stderr; the report then names the file, but not the test.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import type { TestPort } from '../agent/api/test-port.ts';
import type { CausalContext } from '../agent/record/causal-context.ts';
import {
  launcherScript,
  type TestLogLine,
  type TestRunOptions,
  testRunOptionsName,
} from '../bundle/layout/tests.ts';
import { memoryUsage } from '../platform/memory-usage.ts';
import { withSlashes } from '../platform/paths.ts';
import { readOwnStartToken } from '../platform/systems/proc-files.ts';
import { ChildEnds } from './child-ends.ts';
import { openTestLog, type TestLog } from './log.ts';
import { MemoryWatch } from './memory-watch.ts';
import { readOtherThreads } from './other-threads.ts';
import type { Scene } from './runners/runner.ts';
import { runners } from './runners/table.ts';
import { TestWatch } from './watch.ts';

export interface InstallTestWatch {
  causal: CausalContext;
  /** The run's private folder; undefined outside of `agentdump ci`, if only an explicit reporter is used. */
  folder: string | undefined;
  program: string;
  isMainThread: boolean;
  importModule: Scene['importModule'];
  /** Called at the end, for the start of the run's other processes. */
  keepCode: (() => void) | undefined;
  /** Writes a bundle of the current state and returns its path. `heap` includes a heap snapshot. */
  dump(reason: string, heap: boolean): string | undefined;
}

export function installTestWatch(options: InstallTestWatch): TestPort {
  const { causal, folder, program, isMainThread, importModule, keepCode, dump } = options;
  if (folder === undefined) return new TestWatch({ causal });
  const threadId = isMainThread ? 0 : process.getBuiltinModule('node:worker_threads').threadId;
  const describe = (): TestLogLine => describeProcess(program, threadId);
  const log = openLazily(folder, threadId, () => [describe(), ...watch.restate()], isMainThread, describe);
  const children = new ChildEnds(log);
  const wishes = readWishes(folder);
  const memory = wishes.leakCheck
    ? new MemoryWatch(log, wishes.leakCheck, (reason) => dump(reason, true))
    : undefined;
  const watch: TestWatch = new TestWatch({
    causal,
    folder,
    log,
    ...(isMainThread && { others: () => readOtherThreads(folder) }),
    startsOthersOnly: isMainThread && (launcherScript.test(process.argv[1] ?? '') || isNodeTestRunner()),
    snapshot: (reason) => dump(reason, false),
    snapshots: wishes.snapshots,
    ...(memory && { betweenTests: (tests, othersRun) => memory.sample(tests, othersRun) }),
  });
  // In a worker thread the name of the script is only set after the preload.
  if (isMainThread) recognise(watch, isMainThread, importModule);
  else process.nextTick(() => recognise(watch, isMainThread, importModule));
  return Object.assign(watch, {
    close: (exitCode: number): void => {
      children.look();
      log.write(describeExit(exitCode, watch.unfinished()));
      log.close();
      try {
        keepCode?.();
      } catch {
        // The other processes then start as slowly as this one.
      }
    },
  });
}

/** Whether this process is the runner; not if it runs the tests in its own process. */
function isNodeTestRunner(): boolean {
  const { execArgv, env } = process;
  // Node 20 passes the flag on to the processes of the test files.
  const isChild = env['NODE_TEST_CONTEXT']?.startsWith('child') === true;
  return execArgv.includes('--test') && !isChild && !execArgv.some((word) => word.includes('-isolation'));
}

function recognise(watch: TestWatch, isMainThread: boolean, importModule: Scene['importModule']): void {
  const scene: Scene = {
    // Runners are detected by patterns with forward slashes.
    script: withSlashes(realScript(process.argv[1] ?? '')),
    environment: process.env,
    isMainThread,
    importModule,
  };
  for (const runner of runners) {
    if (!runner.matches(scene)) continue;
    try {
      Promise.resolve(runner.hook(watch, scene)).catch(() => {});
    } catch {
      // The runner has an unknown shape.
    }
    return;
  }
}

function realScript(script: string): string {
  try {
    return realpathSync(script);
  } catch {
    return script;
  }
}

/** Without options there is no file; checking for it is cheaper than a failed read. */
function readWishes(folder: string): TestRunOptions {
  const path = `${folder}/${testRunOptionsName}`;
  try {
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as TestRunOptions;
  } catch {
    // Treated as absent.
  }
  return { snapshots: false };
}

/** A worker thread that runs no tests (of a loader, of a pool) creates no log. */
function openLazily(
  folder: string,
  threadId: number,
  restate: () => TestLogLine[],
  isEager: boolean,
  describe: () => TestLogLine,
): TestLog {
  let opened: TestLog | undefined;
  let isBroken = false;
  const open = (): TestLog | undefined => {
    if (opened || isBroken) return opened;
    try {
      opened = openTestLog(folder, threadId, restate);
      opened.write(describe());
    } catch {
      isBroken = true;
    }
    return opened;
  };
  if (isEager) open();
  return {
    write: (line, waits) => (line.kind === 'exit' ? opened : open())?.write(line, waits),
    flush: () => opened?.flush(),
    close: () => opened?.close(),
  };
}

function describeProcess(program: string, threadId: number): TestLogLine {
  const startTicks = readOwnStartToken();
  return {
    kind: 'process',
    atMs: Date.now(),
    pid: process.pid,
    parentPid: process.ppid,
    threadId,
    ...(startTicks !== undefined && { startTicks }),
    program,
    argv: process.argv,
    cwd: process.cwd(),
    nodeVersion: process.version,
  };
}

function describeExit(code: number, unfinished: number): TestLogLine {
  const handles: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return {
    kind: 'exit',
    code,
    ...(unfinished > 0 && { unfinished }),
    heapUsedBytes: memoryUsage().heapUsed,
    // libuv reports kilobytes.
    maxRssBytes: process.resourceUsage().maxRSS * 1024,
    handles,
  };
}
