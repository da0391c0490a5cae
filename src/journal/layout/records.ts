/**
 * What the journal's records say: the table of kinds and the shapes of their payloads, which are JSON text unless
 * said otherwise. A reader skips a kind that it does not know. Agent events keep the names of the OpenTelemetry GenAI
 * conventions; those that have none there bear our own prefix (`agentdump.step.id`).
 */

/** Numbers are never reused. 1–31 the process, 32–63 the agent, 64–95 durable runs; from 1024 on anybody's own. */
export const recordKinds = {
  processFacts: 1,
  memorySample: 2,
  resourcePeak: 3,
  warning: 4,
  handledException: 5,
  handledRejection: 6,
  childStart: 7,
  childEnd: 8,
  logTail: 9,
  stall: 10,
  stallEnd: 11,
  signal: 12,
  workerStart: 13,
  workerEnd: 14,
  limitReached: 15,
  /** The bundle part `heap-profile.json`, as it stood then. */
  heapProfile: 16,
  /** Not JSON: an age file that holds the key of the sealed records after it. */
  sealKey: 17,
  /** Of a journal that seals its records: what `processFacts` then does not say. */
  commandLine: 18,
  /** Server requests in flight, when that has changed. */
  openRequests: 19,
  end: 31,
  run: 32,
  step: 33,
  toolCall: 34,
  modelCall: 35,
  modelFrame: 36,
  message: 37,
  statePatch: 38,
  plan: 39,
  approval: 40,
  checkpoint: 41,
  progress: 42,
  wait: 43,
  lock: 44,
  note: 45,
  content: 46,
  http: 47,
  mcp: 48,
  durableRun: 64,
  durableStep: 65,
  durableValue: 66,
  durableApproval: 67,
  durableCheckpoint: 68,
} as const;
export type RecordKindName = keyof typeof recordKinds;

const nameOfKind = new Map<number, RecordKindName>(
  Object.entries(recordKinds).map(([name, kind]) => [kind, name as RecordKindName]),
);
/** The table's name of a kind; undefined for one that this release does not know. */
export function findKindName(kind: number): RecordKindName | undefined {
  return nameOfKind.get(kind);
}

/** What a sealed journal leaves clear, so that a finisher can tell how the process died: figures and versions. */
export const kindsLeftClear: ReadonlySet<number> = new Set([
  recordKinds.processFacts,
  recordKinds.memorySample,
  recordKinds.resourcePeak,
  recordKinds.stallEnd,
  recordKinds.end,
  recordKinds.sealKey,
]);

/** Sizes in bytes, delay in milliseconds since the sample before. A field that can't be had is absent. */
export interface MemorySamplePayload {
  rss: number;
  heapUsed: number;
  heapTotal?: number;
  heapLimit?: number;
  external?: number;
  arrayBuffers?: number;
  cgroupCurrent?: number;
  cgroupMax?: number;
  loopDelayMs?: number;
}

/** `requests`: as in `origin.json`, the oldest first; ages are those of the record's time. */
export interface OpenRequestsPayload {
  /** Younger ones are not counted. */
  leastAgeMs: number;
  inFlight: number;
  requests: object[];
}

export interface ResourcePeakPayload {
  /** What peaked, e.g. `descriptors`, `rss`, `sockets`. */
  resource: string;
  value: number;
  limit?: number;
}

export interface WarningPayload {
  name: string;
  message: string;
  code?: string;
  stack?: string;
}

/** Of a handled exception or rejection: the host went on after it. */
export interface HandledErrorPayload {
  name?: string;
  message: string;
  code?: string | number;
  stack?: string;
  origin: string;
}

export interface ChildStartPayload {
  pid: number;
  command: string;
}

export interface ChildEndPayload {
  pid: number;
  command?: string;
  exitCode?: number;
  signal?: string;
  /** Last lines of its standard error, redacted. */
  stderrTail?: string;
}

export interface LogTailPayload {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** The event loop had not turned for so long when the watchdog looked. */
export interface StallPayload {
  silentMs: number;
  stack?: string;
}

/** It turns again, after so long in all. */
export interface StallEndPayload {
  silentMs: number;
  where: 'javascript' | 'native';
}

/** The last record of a journal whose process ended by itself, well or not; a journal without one was cut off. */
export interface EndPayload {
  endedWell: boolean;
  exitCode?: number;
  signal?: string;
}

/** Every agent event carries its state: `start` before the thing happens, `end` in the same tick after it. */
export interface AgentEventPayload {
  state: 'start' | 'progress' | 'end' | 'error' | 'instant';
  /** Unique within the journal; `end` bears the id of its `start`. */
  id?: string;
  /** Id of the run, step or call around it. */
  parent?: string;
  name?: string;
  [attribute: string]: unknown;
}
