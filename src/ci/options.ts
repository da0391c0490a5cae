/** What is wished of a run, and how it ended. */
import { join } from 'node:path';
import type { LeakLimits } from '../bundle/layout/tests.ts';
import type { CiOutcome } from '../model/ci-summary.ts';
import type { ChildExit } from '../supervise/run/restart-policy.ts';

export interface CiOptions {
  command: readonly string[];
  /** The report folder, absolute. */
  report: string;
  /** Without any test starting or ending for so long the run hangs; undefined: never. */
  hangAfterMs: number | undefined;
  /** The run is stopped so long after its start, whatever it does: the job would be killed. */
  stopAfterMs: number | undefined;
  /** A light bundle for each test that fails. */
  onFailure: 'none' | 'snapshot';
  leakCheck: LeakLimits | undefined;
  locals: boolean;
  heap: 'off' | 'pressed' | 'auto' | 'always';
  /** A folder with the summary of an earlier run: compared with when red, replaced when green. */
  baseline: string | undefined;
  maxBundles: number;
  maxBytes: number;
  /** A line for the person who reads the job's log. */
  note(text: string): void;
  print(text: string): void;
}

export interface CiEnd {
  exit: ChildExit;
  outcome: CiOutcome;
}

/** Where a report has its bundles. */
export const bundlesOf = (report: string): string => join(report, 'bundles');

export const defaultLeakLimits: LeakLimits = { share: 0.2, bytes: 10 * 1024 ** 2 };
