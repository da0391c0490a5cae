/**
 * What is known of tests, on its two ways: `test.json` in a bundle, and the log that each thread of a watched run keeps
 * in the run's private folder, from which whoever survives tells which test ran. Types and names only.
 */
import type { WorkerStacksPart } from './error.ts';

/** Names the private folder of a run of `agentdump ci`; every Node process below it has the variable. */
export const testRunVariable = 'AGENTDUMP_CI';
/** In that folder: what is wished of the processes, and later why they are stopped. */
export const testRunOptionsName = 'options.json';
export const testStopName = 'stop.json';
/** What was seen of a process's worker threads from outside, for the bundle that it is about to write: WorkerStacksNote. */
export const workerStacksName = (pid: number): string => `workers-${pid}.json`;
/** `tests-<pid>-<thread>.jsonl`, one JSON document a line. */
export const testLogName = /^tests-(\d+)-(\d+)\.jsonl$/;

/** Programs that start the command that is meant, and end as it ends. */
export const launcherScript =
  /\/(?:npm-cli|npx-cli|npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|turbo|nx|lerna|wireit|c8|nyc|cross-env|dotenv|concurrently)(?:\.[cm]?js)?$/;

export interface TestRunOptions {
  /** A light bundle for a test that fails. */
  snapshots: boolean;
  /** Collect garbage at the tests' ends and note what is left; growth over both is to be explained. */
  leakCheck?: LeakLimits;
}

export interface LeakLimits {
  /** Growth of the first third's memory, as a share; with `bytes` both must be passed. */
  share: number;
  bytes: number;
}

/** Written when the run is stopped before its end. */
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
  /** From the outermost suite to the test itself. */
  name: string[];
  startedAt: string;
}

/** The test, or what runs around tests, that began what happened, perhaps long after its end. */
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
  /** Where the assertion stands, if the runner says. 1-based. */
  line?: number;
  column?: number;
}

export type TestStatus = 'passed' | 'failed' | 'skipped';

/** `test.json`: the tests of the thread that the bundle is about. */
export interface TestPart {
  /** `node:test`, `jest`, `mocha`, `vitest`, `ava`, `playwright`, `tap`; absent for a plain script. */
  runner?: string;
  /** The file that was being run, where no test is. */
  file?: string;
  /** Started and not finished, the newest first: the first is the one that ran. */
  running: RunningTest[];
  /** The one in whose asynchronous context it happened. `running` are those that ran then. */
  origin?: TestOrigin;
  /** The tests have contexts: without an origin it is not known which one began it. */
  isFollowed?: true;
  finished: number;
  failed: number;
  /** The bundle is about this test, which has just failed. */
  failure?: RunningTest & { error: TestFailure };
  /** The test in which this process was started, of one of the processes above it. */
  startedBy?: RunningTest;
  stop?: TestStop;
}

/** Times are of Date.now: the first ISO text of a process costs a third of a millisecond. */
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
  /** `hook`: what runs around tests, and is not counted among them. */
  | ({ kind: 'start'; id: number; startedMs: number; hook?: true } & Omit<RunningTest, 'startedAt'>)
  /** `hook`: of a suite too, which some runners tell from a test only at its end. */
  | {
      kind: 'end';
      id: number;
      status: TestStatus;
      tookMs: number;
      hook?: true;
      error?: TestFailure;
      bundle?: string;
    }
  /** A test that had ended: the runner counts it as failed for an error that came later. */
  | { kind: 'failed'; id: number; error?: TestFailure }
  /** The thread wrote a bundle; the tests that had started and not ended are those it is about. */
  | {
      kind: 'bundle';
      path: string;
      trigger: string;
      handled: boolean;
      origin?: TestOrigin;
      isFollowed?: true;
    }
  /** What the log said before it grew too long and began anew. */
  | { kind: 'counts'; finished: number; failed: number }
  | {
      kind: 'memory';
      heapUsedBytes: number;
      rssBytes: number;
      externalBytes: number;
      tests: number;
    }
  /**
   * A process that this thread had started died of a signal. `byParent`: this thread sent it one. `lastGcs`: as in
   * EvidencePart.
   */
  | { kind: 'child'; pid: number; signal: string; byParent: boolean; lastGcs?: string[] }
  | { kind: 'heap'; moment: 'early' | 'late'; bundle: string }
  | {
      kind: 'exit';
      code: number;
      heapUsedBytes: number;
      maxRssBytes: number;
      /** Kinds of process.getActiveResourcesInfo, counted, when the process ended. */
      handles: Record<string, number>;
    };
