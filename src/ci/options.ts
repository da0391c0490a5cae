/** The options of a run, and how it ended. */
import type { LeakLimits } from '../bundle/layout/tests.ts';
import type { CiOutcome } from '../model/ci-summary.ts';
import type { ChildExit } from '../supervise/run/restart-policy.ts';

export interface CiOptions {
  command: readonly string[];
  /** The report folder, absolute. */
  report: string;
  /** The run hangs if no test starts or ends for this long. Undefined: no limit. */
  hangAfterMs: number | undefined;
  /** The run is stopped this long after its start in any case, because the job would be killed. */
  stopAfterMs: number | undefined;
  /** `snapshot`: write a light bundle for each failing test. */
  onFailure: 'none' | 'snapshot';
  leakCheck: LeakLimits | undefined;
  locals: boolean;
  heap: 'off' | 'pressed' | 'auto' | 'always';
  /** Folder with the summary of an earlier run: compared with after a failed run, replaced after a successful one. */
  baseline: string | undefined;
  maxBundles: number;
  maxBytes: number;
  /** Prints a line to the job's log. */
  note(text: string): void;
  print(text: string): void;
}

export interface CiEnd {
  exit: ChildExit;
  outcome: CiOutcome;
}

export const defaultLeakLimits: LeakLimits = { share: 0.2, bytes: 10 * 1024 ** 2 };
