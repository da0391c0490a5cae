/**
 * The bundle on disk: names of its parts, the manifest and the trigger; the other parts' shapes stand beside it. Shared by
 * the writer (in the dying process) and the reader (later, elsewhere). FORMAT.md is the specification; a change here
 * edits it and adds a step to upgrade.ts in the same commit. Types and constants only: the preload carries this file.
 */

export type * from './error.ts';
export type * from './origin.ts';
export type * from './surroundings.ts';

/** Raised by one when an older reader would misread what is new. */
export const bundleSchemaVersion = 1;
export const manifestSchema = 'agentdump.bundle';

/** A finished bundle's folder ends so; while it is written, and for ever if the writer died, so and `.partial`. */
export const bundleSuffix = '.agentdump';
export const partialSuffix = '.agentdump.partial';
/** From the making of the folder to its first whole part: such a folder is no bundle yet. */
export const startingSuffix = '.agentdump.starting';
/** While retention takes it away, so that a bundle that is half gone is never taken for one. */
export const removedSuffix = '.agentdump.removed';
export const packedSuffix = '.agentdump.zip';
export const encryptedSuffix = '.agentdump.zip.age';
export const manifestName = 'manifest.json';
/** One JSON document a line, while the bundle is written: what the manifest will say, as far as it is known. */
export const progressName = 'progress.jsonl';
/** Bytes that are given back when the disk is full, so that a bundle can be sealed on a full disk. */
export const reserveName = 'reserve.unfinished';
/** In the dump folder, beside the bundles: when which signature was seen. */
export const signatureLogName = 'signatures.log';
/** Set for a program by who reads its bundles and then removes them. */
export const passingVariable = 'AGENTDUMP_PASSING';
/** Appended to a part's name while it is being written: such a file is never a part. */
export const unfinishedSuffix = '.unfinished';

/** Parts in the order of their value, which is the order of writing. */
export const partNames = {
  trigger: 'trigger.json',
  evidence: 'evidence.json',
  error: 'error.json',
  /** Whose work the code was, and the requests in flight (layout/origin.ts). */
  origin: 'origin.json',
  /** The tests that ran, of a test runner (layout/tests.ts). */
  tests: 'test.json',
  agent: 'agent.json',
  /** What the agent was doing, as the memory of the dying process still held it (src/journal/layout/agent.ts). */
  agentEvents: 'agent-events.json',
  /** What happened around it and ended nothing: logs, warnings, handled errors, children. */
  processEvents: 'process-events.json',
  /** The flight recorder's segments, end to end (src/journal/FORMAT.md). */
  journal: 'recorder.journal',
  process: 'process.json',
  locals: 'locals.json',
  /** Where async functions waited. */
  suspended: 'suspended.json',
  scripts: 'scripts.json',
  memory: 'memory.json',
  handles: 'handles.json',
  environment: 'environment.json',
  packages: 'packages.json',
  nativeModules: 'native-modules.json',
  threads: 'threads.json',
  /** Of a capture from outside: where its worker threads were. */
  workerStacks: 'worker-stacks.json',
  drift: 'drift.json',
  report: 'report.json',
  /** What the analysis of a core reads of it, gzipped: still a core, its texts redacted at their length. */
  miniCore: 'mini-core.gz',
  /** Who allocated what is still alive, where memory came near its limit. */
  heapProfile: 'heap-profile.json',
  /** How many objects of each class there are, where a snapshot did not fit. */
  heapCensus: 'heap-census.json',
  heapSnapshot: 'heap.heapsnapshot.gz',
} as const;
/** Texts of scripts on the stack are parts named `sources/<n>.js`, their maps `maps/<n>.map`. */
export const sourcePartPrefix = 'sources/';
export const mapPartPrefix = 'maps/';

export interface Manifest {
  schema: typeof manifestSchema;
  version: number;
  /** 16 lower-case hexadecimal digits, random. */
  id: string;
  createdAt: string;
  sealedAt: string;
  /** Version of agentdump that wrote it. */
  writer: string;
  program: string;
  verdictKind: string;
  parts: ManifestPart[];
  gaps: ManifestGap[];
  /** Values withheld, by rule and part; never a value. */
  redactions: { rule: string; part: string; count: number }[];
  /** Milliseconds from the trigger to the seal. */
  tookMs: number;
}

export interface ManifestPart {
  name: string;
  bytes: number;
  /** Lower-case hexadecimal SHA-256 of the file's bytes. */
  sha256: string;
  /** False when the part was cut at a limit, and a gap says so. */
  complete: boolean;
}

export interface ManifestGap {
  part: string;
  reason: string;
  lookedFor?: string;
}

/** What the manifest says from the first instant on. */
export type ManifestHead = Pick<
  Manifest,
  'schema' | 'version' | 'id' | 'createdAt' | 'writer' | 'program' | 'verdictKind'
>;

/** A line of `progress.jsonl`. A part's line is written before the part gets its name. */
export type ProgressLine =
  | { begin: ManifestHead }
  | { part: ManifestPart }
  | { dropped: string }
  | { gap: ManifestGap }
  | { redactions: Manifest['redactions'] };

export type TriggerKind =
  | 'uncaught-exception'
  | 'unhandled-rejection'
  | 'signal'
  | 'snapshot-signal'
  | 'snapshot-call'
  /** Memory came near its limit, for the first time. */
  | 'snapshot-memory'
  | 'exit'
  | 'pending-exit'
  | 'worker-death'
  /** The agent did nothing for longer than it was allowed to, or the same again and again; it goes on. */
  | 'no-progress'
  /** The main thread's event loop stands still; written while it does, and the process goes on. */
  | 'stall'
  /** Written by somebody else after the death: by the parent that saw the exit, or by whoever found the traces. */
  | 'supervised-exit'
  | 'found-dead'
  /** Written from outside while it lives: on request, or because it has been silent for too long. */
  | 'capture'
  | 'silence';

/** `trigger.json`: why the bundle was written. The first part: with it alone a bundle can be explained in a line. */
export interface TriggerPart {
  id: string;
  /** So that a bundle without a manifest says its version too. */
  schemaVersion: number;
  kind: TriggerKind;
  /** The verdict kind that the folder's name carries; analysis may conclude otherwise. */
  verdictKind: string;
  at: string;
  program: string;
  pid: number;
  threadId: number;
  isMainThread: boolean;
  nodeVersion: string;
  /** Given to `dump(reason)`. */
  reason?: string;
  /** `fromItself`: the program sent it by process.kill; `heardMsBefore`: after it had come from outside, so long before. */
  signal?: { name: string; number: number; fromItself?: true; heardMsBefore?: number };
  /** Exit code that the process was about to end with. */
  exitCode?: number;
  /**
   * Text of the stack that called process.exit, or process.kill for a signal `fromItself`; of a live capture, where the main
   * thread was interrupted.
   */
  exitStack?: string;
  /** The host has a listener of its own for this event, so the process may have gone on. */
  handledByHost: boolean;
  /**
   * Of something thrown, as far as it shows: the main module had not ended, or the program was at work, so that a module
   * which could not be loaded was asked for on demand.
   */
  phase?: 'starting' | 'at-work';
  /** Which event, where Node tells: `uncaughtException` or `unhandledRejection`. */
  origin?: string;
  /** For a worker's death, written by its parent thread. */
  worker?: { threadId: number; name?: string; exitCode: number; resourceLimits?: Record<string, number> };
  /** Same signature in quick succession: how many were counted and not stored since the last bundle. */
  repeats?: number;
  /** What still kept the process waiting (kinds of process.getActiveResourcesInfo), with exit 13. */
  pending?: string[];
  /** No exit code was set as the event loop ran empty, and nothing of the program ran between that and exit code 13. */
  setByNode?: true;
  /** For a lack of progress: what was noticed. */
  silence?: SilenceFacts;
  /** Id of its flight recorder's session, where one ran: its children name it. */
  recorderId?: string;
  /** How the main thread's event loop stands still: of a stall, or of a signal that met one. */
  stall?: StallFacts;
}

/** Seen by the watchdog, from another thread. */
export interface StallFacts {
  /** For how long the loop had not turned when it was looked at. */
  silentMs: number;
  /** How long it may. */
  limitMs: number;
  /** Where the main thread was: it runs JavaScript, or sits in native code that lets nobody in. */
  where: 'javascript' | 'native';
  /** CPU time that the main thread used in `silentMs`, to the clock tick of 10 ms. */
  cpuMs?: number;
  /** For how long of it the main thread was ready to run and got no processor; absent where the kernel does not say. */
  queuedMs?: number;
  /** Microtasks ran while the loop stood: promises starve it. */
  microtasksRan?: boolean;
  /** Kind of the asynchronous resource whose callback it was, as async_hooks names it. */
  callback?: string;
  /** Texts of further stacks: after `exitStack` one a moment later, then one for each function that returned. */
  laterStacks?: string[];
  /** Stalls of this process that were reported before. */
  earlier: number;
}

/** Times in milliseconds. */
export interface SilenceFacts {
  silentMs: number;
  deadlineMs: number;
  /** What counted as a sign: `any`, `steps` or `progress`. */
  signs: string;
  /** Kind of the agent event that was the last sign; absent when there was none. */
  lastSign?: string;
  /** The same calls and results, so many a turn, came so many turns in a row; the deadline had not passed then. */
  repeated?: { length: number; times: number };
  /** 1 for the first bundle of this process about it. */
  count: number;
}
