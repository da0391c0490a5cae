/**
 * The result of a run of `agentdump ci`: the document `agentdump.ci/1` (summary.json), from which its reports are rendered.
 * Every field except `schema`, `command`, `outcome`, `tests` and `bundles` may be absent. Paths below the working directory
 * are relative to it. Sizes are in bytes, durations in milliseconds, times ISO 8601 UTC; lines and columns are 1-based.
 */
import type { RunningTestFacts } from './tests.ts';

export const ciSummarySchema = 'agentdump.ci/1';

export interface CiSummary {
  schema: typeof ciSummarySchema;
  /** Redacted. */
  command: string[];
  startedAt?: string;
  durationMs?: number;
  outcome: CiOutcome;
  tests: {
    finished: number;
    failed: number;
    /** Started, and not ended when their process was. */
    unfinished: number;
    /** Those that failed or did not finish; at most 1,000. */
    telling: CiTest[];
  };
  bundles: CiBundle[];
  /** Bundles that were left out, and why. */
  leftOut?: { name: string; reason: string }[];
  processes?: CiProcess[];
  leaks?: CiLeak[];
  difference?: CiDifference;
  /** What could not be had. */
  gaps?: string[];
}

export interface CiOutcome {
  /**
   * `leak`: the command was content, and memory grew. `died`: it was content, although a process ran out of memory, crashed or
   * exited while a test ran (mocha's parallel mode overlooks that, and most runners an exit with code 0).
   */
  kind: 'passed' | 'failed' | 'hang' | 'job-limit' | 'cancelled' | 'leak' | 'died';
  /** What the command ended with. */
  exitCode?: number;
  signal?: string;
}

export interface CiTest extends RunningTestFacts {
  runner?: string;
  status: 'failed' | 'unfinished' | 'passed' | 'skipped';
  durationMs?: number;
  error?: { name?: string; message: string; stackText?: string };
  /** Where it failed, on the code that was written; without a stack the line on which the test is written. */
  place?: CiPlace;
  /** Name of its bundle's file. */
  bundle?: string;
}

export interface CiPlace {
  file: string;
  line: number;
  column?: number;
}

export interface CiBundle {
  /** The file below `bundles/`. */
  name: string;
  bytes: number;
  encrypted?: true;
  /** Absent for one that is encrypted. */
  kind?: string;
  title?: string;
  summary?: string;
  confidence?: string;
  signature?: string;
  /** First, again: against the baseline. */
  seen?: 'first' | 'again';
  /** The host has a handler for it: the process may have gone on. */
  handled?: true;
  /** Its process ran tests and ended with another code than 0, although none of them had failed. */
  failedProcess?: true;
  /** The test that began it had ended before, so the test did not expect it. */
  late?: true;
  pid?: number;
  test?: RunningTestFacts & { runner?: string };
  /**
   * Why it is not listed beside failed tests. `recovered`: a stall that ended. `expected`: an exit or a signal that ended a process which a
   * test had started, and that test passed.
   */
  aside?: 'recovered' | 'expected';
  /** From the event to the sealed bundle, in milliseconds. Its thread waited meanwhile. */
  tookMs?: number;
  /** How often it happened again in the run without being stored, and the tests that began it then; at most 20. */
  again?: { times: number; tests?: RunningTestFacts[] };
  /** Others that had not finished in the same process. */
  unfinished?: RunningTestFacts[];
  place?: CiPlace;
  /** The last model call and the last tool call that the agent made, one line each. */
  lastModelCall?: string;
  lastToolCall?: string;
}

export interface CiProcess {
  /** What it ran: the test file, or the script. */
  entry: string;
  runner?: string;
  tests: number;
  exitCode?: number;
  heapUsedBytes?: number;
  maxRssBytes?: number;
  /** What was still open at its end, by kind. */
  handles?: Record<string, number>;
}

export interface CiLeak {
  entry: string;
  firstBytes: number;
  lastBytes: number;
  /** Samples that each of the two is the median of. */
  samples: number;
  tests: number;
  /** Objects that were there early and keep more alive late, the most first. */
  suspects: CiLeakSuspect[];
  /** What they keep: classes of which there are more; shares of classes overlap. */
  classes?: { name: string; countGrowth: number; bytesGrowth: number }[];
  /** Files below `bundles/`: the heap early, and late. */
  heaps?: string[];
}

export interface CiLeakSuspect {
  /** The class of the object. */
  name: string;
  /** One of the shortest ways to it from the program's roots; `*` stands for numbers of elements. */
  path: string;
  /** Of several at one path. */
  count: number;
  bytesGrowth: number;
}

export interface CiDifference {
  /** The baseline's folder. */
  against: string;
  signatures: { id: string; title: string; state: 'first' | 'again' | 'gone' }[];
  handles: { entry: string; kind: string; before: number; after: number }[];
  memory: { entry: string; beforeBytes: number; afterBytes: number }[];
}

/** The name of a runner that is detected, but whose tests can't be followed. */
export const unseenRunner = 'jest-jasmine2';

/** Whether there were such tests in the run. */
export const isUnseen = ({ processes = [] }: Pick<CiSummary, 'processes'>): boolean =>
  processes.some(({ runner }) => runner === unseenRunner);
