/**
 * What is known about tests, in two places: `test.json` in a bundle, and the log that each thread of a watched run keeps in
 * the private folder of the run, from which a surviving process can tell which test ran. Types and names only.
 */
import type { WorkerStacksPart } from './error.ts';

/** The private folder of a run of `agentdump ci`; set for every Node process of the run. */
export const testRunVariable = 'AGENTDUMP_CI';
/** In that folder: the options for the processes, and later the reason why they are stopped. */
export const testRunOptionsName = 'options.json';
export const testStopName = 'stop.json';
/** What was seen from outside of a process's worker threads, for the bundle that it is about to write: WorkerStacksNote. */
export const workerStacksName = (pid: number): string => `workers-${pid}.json`;
/** `tests-<pid>-<thread>.jsonl`, one JSON document per line. */
export const testLogName = /^tests-(\d+)-(\d+)\.jsonl$/;

/** Programs that start the actual command, and exit as it exits. */
export const launcherScript =
  /\/(?:npm-cli|npx-cli|npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|turbo|nx|lerna|wireit|c8|nyc|cross-env|dotenv|concurrently)(?:\.[cm]?js)?$/;

export interface TestRunOptions {
  /** Write a light bundle for each failing test. */
  snapshots: boolean;
  /** Collect garbage at the end of tests and record what is left; growth beyond both limits must be explained. */
  leakCheck?: LeakLimits;
}

export interface LeakLimits {
  /** Growth relative to the memory of the first third; both this and `bytes` must be exceeded. */
  share: number;
  bytes: number;
}

/** Written if the run is stopped before its end. */
export interface TestStop {
  why: 'hang' | 'job-limit' | 'cancelled';
  /** How long it had run, or had shown no progress. */
  afterMs: number;
  signal?: string;
  at: string;
}

export interface WorkerStacksNote extends WorkerStacksPart {
  gaps: string[];
}

/** A test as its runner names it. */
export interface RunningTest {
  file?: string;
  /** From the outermost suite down to the test itself. */
  name: string[];
  startedAt: string;
}

/** The test, or the hook around tests, that started what happened, perhaps long after its own end. */
export interface TestOrigin {
  file?: string;
  name: string[];
  startedAt?: string;
  hook?: true;
  ended?: { status?: TestStatus; beforeMs: number };
}

export interface TestFailure {
  name?: string;
  message: string;
  stack?: string;
  /** The position of the assertion, if the runner provides it. 1-based. */
  line?: number;
  column?: number;
}

export type TestStatus = 'passed' | 'failed' | 'skipped';

/** `test.json`: the tests of the thread that the bundle is about. */
export interface TestPart {
  /** `node:test`, `jest`, `mocha`, `vitest`, `ava`, `playwright`, `tap`; absent for a plain script. */
  runner?: string;
  /** The file that was running, if no test is known. */
  file?: string;
  /** Started and not finished, the newest first: the first is the one that ran. */
  running: RunningTest[];
  /** The test in whose async context it happened. `running` are those that were running at that time. */
  origin?: TestOrigin;
  /** The tests have contexts: without an origin, it is not known which test started it. */
  isFollowed?: true;
  finished: number;
  failed: number;
  /** The test that the bundle is about, which has just failed. */
  failure?: RunningTest & { error: TestFailure };
  /** The test in which this process, or one of its ancestors, was started. */
  startedBy?: RunningTest;
  stop?: TestStop;
}

/** Times are those of Date.now: formatting a process's first ISO string costs a third of a millisecond. */
export type TestLogLine =
  | {
      kind: 'process';
      atMs: number;
      pid: number;
      parentPid: number;
      threadId: number;
      startTicks?: string;
      program: string;
      argv: string[];
      cwd: string;
      nodeVersion: string;
    }
  | { kind: 'runner'; runner: string; file?: string }
  /** `hook`: code that runs around tests and is not counted as a test. */
  | ({ kind: 'start'; id: number; startedMs: number; hook?: true } & Omit<RunningTest, 'startedAt'>)
  /** `hook`: also of a suite, which some runners distinguish from a test only at its end. */
  | {
      kind: 'end';
      id: number;
      status: TestStatus;
      tookMs: number;
      hook?: true;
      error?: TestFailure;
      bundle?: string;
    }
  /** A test that had ended: the runner counts it as failed because of a later error. */
  | { kind: 'failed'; id: number; error?: TestFailure }
  /** The thread wrote a bundle; it is about the tests that had started and not ended. */
  | {
      kind: 'bundle';
      path: string;
      trigger: string;
      handled: boolean;
      origin?: TestOrigin;
      isFollowed?: true;
    }
  /** What a bundle is about happened again, and was counted. `of`: the first eight digits of the bundle's id. */
  | { kind: 'repeat'; of: string; origin?: TestOrigin; isFollowed?: true }
  /** The totals of the log before it grew too long and was restarted. */
  | { kind: 'counts'; finished: number; failed: number }
  | {
      kind: 'memory';
      heapUsedBytes: number;
      rssBytes: number;
      externalBytes: number;
      tests: number;
    }
  /**
   * A process that this thread had started died of a signal. `byParent`: this thread had sent it one. `lastGcs`: as in
   * EvidencePart.
   */
  | { kind: 'child'; pid: number; signal: string; byParent: boolean; lastGcs?: string[] }
  | { kind: 'heap'; moment: 'early' | 'late'; bundle: string }
  | {
      kind: 'exit';
      code: number;
      /** How many tests had begun and not ended, if any. */
      unfinished?: number;
      heapUsedBytes: number;
      maxRssBytes: number;
      /** Kinds from process.getActiveResourcesInfo with their counts, at the exit of the process. */
      handles: Record<string, number>;
    };
