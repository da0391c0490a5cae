/**
 * Reads the logs of a run: processes and threads, all tests with their outcome, what was running at the last line of each
 * log, and which bundle was written during which test. A death can leave a truncated last line.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type RunningTest,
  type TestFailure,
  type TestLogLine,
  type TestOrigin,
  type TestStatus,
  testLogName,
} from '../../bundle/layout/tests.ts';

type Line<Kind extends TestLogLine['kind']> = Extract<TestLogLine, { kind: Kind }>;

export interface LoggedTest extends RunningTest {
  runner?: string;
  /** `unfinished`: the thread's log ends before the test does. */
  status: TestStatus | 'unfinished';
  tookMs?: number;
  error?: TestFailure;
  /** Path of the bundle that was written when it failed. */
  bundle?: string;
  /** It is a hook that runs around tests. */
  isHook?: true;
}

export interface LoggedBundle {
  path: string;
  trigger: string;
  handled: boolean;
  /** Whether tests have contexts. The bundle then belongs to `origin`, or to an unknown test if that is absent. */
  isFollowed?: true;
  origin?: TestOrigin;
  /** Tests that had not ended at that time, newest first. */
  running: RunningTest[];
}

export type ChildEnd = Line<'child'>;

export interface LoggedThread {
  pid: number;
  threadId: number;
  process?: Line<'process'>;
  runner?: string;
  file?: string;
  tests: LoggedTest[];
  /** Counts of tests in the part of the log that was dropped. */
  dropped: { finished: number; failed: number };
  bundles: LoggedBundle[];
  repeats: Line<'repeat'>[];
  memory: Line<'memory'>[];
  heaps: Line<'heap'>[];
  /** Child processes that died of a signal. */
  children: ChildEnd[];
  exit?: Line<'exit'>;
}

/** In the order in which the processes started. `ofPid`: only threads of that process. */
export function readTestLogs(folder: string, ofPid?: number): LoggedThread[] {
  return readdirSync(folder)
    .filter((name) => {
      const [, pid] = testLogName.exec(name) ?? [];
      return pid !== undefined && (ofPid === undefined || Number(pid) === ofPid);
    })
    .map((name) => {
      const [, pid, threadId] = testLogName.exec(name) ?? [];
      return readThread(Number(pid), Number(threadId), readFileSync(join(folder, name), 'utf8'));
    })
    .sort((a, b) => (a.process?.atMs ?? 0) - (b.process?.atMs ?? 0) || a.threadId - b.threadId);
}

export function readThread(pid: number, threadId: number, text: string): LoggedThread {
  const thread: LoggedThread = {
    pid,
    threadId,
    tests: [],
    dropped: { finished: 0, failed: 0 },
    bundles: [],
    repeats: [],
    memory: [],
    heaps: [],
    children: [],
  };
  const open = new Map<number, LoggedTest>();
  const ended = new Map<number, LoggedTest>();
  for (const raw of text.split('\n')) {
    const line = parseLine(raw);
    if (line) take(thread, open, ended, line);
  }
  const running = new Set(innermost([...open.values()]));
  return {
    ...thread,
    tests: thread.tests.filter((test) => test.status !== 'unfinished' || running.has(test)),
  };
}

/** Invalid lines are ignored: a program of the run may have written to the folder. */
function parseLine(raw: string): TestLogLine | undefined {
  try {
    const line = JSON.parse(raw) as TestLogLine | null;
    return typeof line === 'object' && line !== null ? line : undefined;
  } catch {
    return undefined;
  }
}

function take(
  thread: LoggedThread,
  open: Map<number, LoggedTest>,
  ended: Map<number, LoggedTest>,
  line: TestLogLine,
): void {
  switch (line.kind) {
    case 'process':
      thread.process = line;
      break;
    case 'runner':
      thread.runner = line.runner;
      if (line.file !== undefined) thread.file = line.file;
      break;
    case 'start':
      begin(thread, open, line);
      break;
    case 'end':
      end(open, ended, line);
      break;
    case 'failed':
      failLater(ended, line);
      break;
    case 'counts':
      thread.dropped = { finished: line.finished, failed: line.failed };
      break;
    case 'bundle':
      thread.bundles.push({
        path: line.path,
        trigger: line.trigger,
        handled: line.handled,
        ...(line.isFollowed && { isFollowed: true, ...(line.origin && { origin: line.origin }) }),
        running: innermost([...open.values()])
          .reverse()
          .map(({ file, name, startedAt }) => ({
            ...(file !== undefined && { file }),
            name,
            startedAt,
          })),
      });
      break;
    case 'repeat':
      thread.repeats.push(line);
      break;
    case 'memory':
      thread.memory.push(line);
      break;
    case 'heap':
      thread.heaps.push(line);
      break;
    case 'child':
      thread.children.push(line);
      break;
    case 'exit':
      thread.exit = line;
  }
}

function begin(thread: LoggedThread, open: Map<number, LoggedTest>, line: Line<'start'>): void {
  const { id, file, name, startedMs, hook } = line;
  const startedAt = asTime(startedMs);
  if (!Array.isArray(name) || startedAt === undefined) return;
  const test: LoggedTest = {
    ...(file !== undefined && { file }),
    name,
    startedAt,
    ...(thread.runner !== undefined && { runner: thread.runner }),
    status: 'unfinished',
    ...(hook === true && { isHook: true }),
  };
  open.set(id, test);
  thread.tests.push(test);
}

/** Without suites and tests that wait for others inside them. */
function innermost(tests: LoggedTest[]): LoggedTest[] {
  const outer = new Set(
    tests.flatMap(({ name }) => name.slice(1).map((_, depth) => name.slice(0, depth + 1).join('\n'))),
  );
  return tests.filter(({ name }) => !outer.has(name.join('\n')));
}

/** ISO 8601; undefined if it is not a valid time. */
export function asTime(ms: unknown): string | undefined {
  return typeof ms === 'number' && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined;
}

function end(
  open: Map<number, LoggedTest>,
  ended: Map<number, LoggedTest>,
  { id, status, tookMs, hook, error, bundle }: Line<'end'>,
): void {
  const test = open.get(id);
  if (!test) return;
  open.delete(id);
  ended.set(id, test);
  Object.assign(test, {
    status,
    tookMs,
    ...(hook === true && { isHook: true }),
    ...(error && { error }),
    ...(bundle !== undefined && { bundle }),
  });
}

function failLater(ended: Map<number, LoggedTest>, { id, error }: Line<'failed'>): void {
  const test = ended.get(id);
  if (test) Object.assign(test, { status: 'failed' }, error && { error });
}

/** Adds a bundle that was written from outside to the log of its process. Never throws. */
export function noteBundleOf(folder: string, pid: number, path: string, trigger: string): void {
  const log = join(folder, `tests-${pid}-0.jsonl`);
  const line: TestLogLine = { kind: 'bundle', path, trigger, handled: false };
  try {
    // Starts with a line end, because a death can leave a truncated line.
    if (existsSync(log)) appendFileSync(log, `\n${JSON.stringify(line)}\n`);
  } catch {
    // The bundle is then reported without its test.
  }
}

/** Tests of all threads of a process that have not ended, newest first. */
export function runningTests(threads: readonly LoggedThread[], pid: number): LoggedTest[] {
  return threads
    .filter((thread) => thread.pid === pid)
    .flatMap((thread) => thread.tests.filter((test) => test.status === 'unfinished'))
    .reverse();
}

/** The test during which an ancestor started this process. */
export function startingTest(threads: readonly LoggedThread[], pid: number): LoggedTest | undefined {
  let child = mainThread(threads, pid);
  for (let depth = 0; child?.process && depth < 32; depth++) {
    const { parentPid, atMs } = child.process;
    const during = threads
      .filter((thread) => thread.pid === parentPid)
      .flatMap((thread) => thread.tests)
      .filter((test) => isDuring(test, atMs));
    if (during.length) return during.at(-1);
    child = mainThread(threads, parentPid);
  }
  return undefined;
}

/** The signal that ended the process, as observed by its parent. */
export function signalSeenByParent(threads: readonly LoggedThread[], pid: number): ChildEnd | undefined {
  const parentPid = mainThread(threads, pid)?.process?.parentPid;
  return threads
    .filter((thread) => thread.pid === parentPid)
    .flatMap((thread) => thread.children)
    .findLast((child) => child.pid === pid);
}

function mainThread(threads: readonly LoggedThread[], pid: number): LoggedThread | undefined {
  return threads.find((thread) => thread.pid === pid && thread.threadId === 0);
}

function isDuring({ startedAt, tookMs }: LoggedTest, atMs: number): boolean {
  const startMs = Date.parse(startedAt);
  return startMs <= atMs && (tookMs === undefined || atMs <= startMs + tookMs);
}
