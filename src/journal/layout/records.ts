/**
 * The contents of journal records: the table of kinds and the shapes of their payloads, which are JSON text unless specified
 * otherwise. A reader skips unknown kinds. Agent events use the names of the OpenTelemetry GenAI conventions; names without
 * an equivalent there have the prefix `agentdump.` (`agentdump.step.id`).
 */

/** Numbers are never reused. 1–31 the process, 32–63 the agent, 64–95 durable runs; from 1024 on free for applications. */
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
  /** The bundle part `heap-profile.json` at that time. */
  heapProfile: 16,
  /** Not JSON: an age file that contains the key of the sealed records that follow. */
  sealKey: 17,
  /** In a journal with sealed records: the facts left out of `processFacts`. */
  commandLine: 18,
  /** Server requests in flight, recorded when they change. */
  openRequests: 19,
  /** From now on these signals leave a bundle before they kill, if there is time. */
  signalsHeld: 20,
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
/** The name of a kind; undefined for a kind that this release does not know. */
export function findKindName(kind: number): RecordKindName | undefined {
  return nameOfKind.get(kind);
}

/**
 * Kinds that a sealed journal does not encrypt, so that a finisher can determine how the process died: figures and versions.
 */
export const kindsLeftClear: ReadonlySet<number> = new Set([
  recordKinds.processFacts,
  recordKinds.memorySample,
  recordKinds.resourcePeak,
  recordKinds.stallEnd,
  recordKinds.signalsHeld,
  recordKinds.end,
  recordKinds.sealKey,
]);

/** Sizes in bytes, delay in milliseconds since the previous sample. Unavailable fields are absent. */
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

/** `requests`: as in `origin.json`, oldest first. Ages are relative to the record's time. */
export interface OpenRequestsPayload {
  /** Younger requests are not counted. */
  leastAgeMs: number;
  inFlight: number;
  requests: object[];
}

export interface SignalsHeldPayload {
  signals: string[];
}

export interface ResourcePeakPayload {
  /** The resource that peaked, e.g. `descriptors`, `rss`, `sockets`. */
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

/** A handled exception or rejection, after which the host continued. */
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
  /** The last lines of its standard error, redacted. */
  stderrTail?: string;
}

export interface LogTailPayload {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** How long the event loop had not turned when the watchdog checked. */
export interface StallPayload {
  silentMs: number;
  stack?: string;
}

/** The event loop turns again, after this long in total. */
export interface StallEndPayload {
  silentMs: number;
  where: 'javascript' | 'native';
}

/** The last record of a journal whose process ended by itself, successfully or not. A journal without it was cut off. */
export interface EndPayload {
  endedWell: boolean;
  exitCode?: number;
  signal?: string;
}

/** Every agent event has a state: `start` is written before the work happens, `end` in the same tick after it. */
export interface AgentEventPayload {
  state: 'start' | 'progress' | 'end' | 'error' | 'instant';
  /** Unique within the journal; `end` has the id of its `start`. */
  id?: string;
  /** Id of the enclosing run, step or call. */
  parent?: string;
  name?: string;
  [attribute: string]: unknown;
}
