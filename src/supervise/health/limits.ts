/** What a supervised program must keep to, and the words for what it did not. Absent means: not asked. */
export interface HealthLimits {
  /** Answers 200 to 399 while the program is well. */
  url?: string;
  everyMs: number;
  /** An answer that takes longer is none. */
  timeoutMs: number;
  /** So many failures in a row make it unhealthy; after one it is asked again at once. */
  failures: number;
  /** So long after its start the program may be without answer or sign. */
  startGraceMs: number;
  /** The journal, or the file that the program touches, must have been written within so long. */
  heartbeatMs?: number;
  /** Resident memory of the program. */
  memoryBytes?: number;
  /** So long the main thread may stay away from its event loop, as the kernel sees it. */
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

/**
 * `process`: what the kernel sees; `health`: what the program answers; `behaviour`: whether it gets on with its work.
 */
export type HealthLevel = 'process' | 'health' | 'behaviour';

export interface Complaint {
  level: HealthLevel;
  check: 'memory' | 'main-thread' | 'url' | 'heartbeat';
  /** One sentence with the figures. */
  what: string;
  /** Descriptor of the main thread's own event loop, where it has been met in it. */
  homeLoop?: number;
}

/** Looks once; undefined when all is well, or can't be told. */
export interface HealthCheck {
  everyMs: number;
  look(): Complaint | undefined | Promise<Complaint | undefined>;
  /** Somebody had stopped the program: what it missed meanwhile does not count. */
  forgive?(): void;
}

export function isWatched({ url, heartbeatMs, memoryBytes, hangMs }: HealthLimits): boolean {
  return [url, heartbeatMs, memoryBytes, hangMs].some((limit) => limit !== undefined);
}
