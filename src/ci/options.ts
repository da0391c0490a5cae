/** What is wished of a run. */
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

export interface LeakLimits {
  /** Growth of the first third's memory, as a share; with `bytes` both must be passed. */
  share: number;
  bytes: number;
}

export const defaultLeakLimits: LeakLimits = { share: 0.2, bytes: 10 * 1024 ** 2 };
