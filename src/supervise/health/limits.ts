/** The health limits of a supervised program, and the complaint if one is exceeded. A limit that is absent is not checked. */
export interface HealthLimits {
  /** Must answer with 200 to 399 while the program is healthy. */
  url?: string;
  everyMs: number;
  /** An answer that takes longer counts as none. */
  timeoutMs: number;
  /** Number of consecutive failures that make it unhealthy. After a failure it is asked again at once. */
  failures: number;
  /** How long the program may give no answer or sign of life after its start. */
  startGraceMs: number;
  /** The journal, or the file that the program touches, must be written at least this often. */
  heartbeatMs?: number;
  /** Resident memory of the program. */
  memoryBytes?: number;
  /** How long the main thread may stay away from its event loop, as seen by the kernel. */
  hangMs?: number;
  /** From SIGTERM to SIGKILL. */
  stopGraceMs: number;
}

export const defaultHealth: HealthLimits = {
  everyMs: 2000,
  timeoutMs: 500,
  failures: 3,
  startGraceMs: 10_000,
  stopGraceMs: 5000,
};

/** `process`: what the kernel shows; `health`: what the program answers; `behaviour`: whether it makes progress. */
export type HealthLevel = 'process' | 'health' | 'behaviour';

export interface Complaint {
  level: HealthLevel;
  check: 'memory' | 'main-thread' | 'url' | 'heartbeat';
  /** One sentence with the figures. */
  what: string;
  /** File descriptor of the main thread's own event loop, if it has been seen waiting there. */
  homeLoop?: number;
}

/** A check: `look` returns undefined if all is well, or if it can't tell. */
export interface HealthCheck {
  everyMs: number;
  look(): Complaint | undefined | Promise<Complaint | undefined>;
  /** The program was stopped by a signal or a debugger: the time until now does not count. */
  forgive?(): void;
}

export function isWatched({ url, heartbeatMs, memoryBytes, hangMs }: HealthLimits): boolean {
  return [url, heartbeatMs, memoryBytes, hangMs].some((limit) => limit !== undefined);
}
