/**
 * The bundle on disk: names of its parts, the manifest and the trigger; the types of the other parts are beside it. Shared
 * by the writer (in the dying process) and the reader (later, elsewhere). FORMAT.md is the specification: a change here
 * must edit it and add a step to upgrade.ts in the same commit. Types and constants only, because the preload contains this
 * file.
 */

export type * from './error.ts';
export type * from './origin.ts';
export type * from './surroundings.ts';

/** Incremented when an older reader would misinterpret the new format. */
export const bundleSchemaVersion = 1;
export const manifestSchema = 'agentdump.bundle';

/**
 * The suffix of a finished bundle's folder. It is followed by `.partial` while the bundle is being written, and for ever if
 * the writer died.
 */
export const bundleSuffix = '.agentdump';
export const partialSuffix = '.agentdump.partial';
/** From the creation of the folder to its first complete part: such a folder is no bundle yet. */
export const startingSuffix = '.agentdump.starting';
/** While retention removes it, so that an incomplete bundle is never taken for a whole one. */
export const removedSuffix = '.agentdump.removed';
export const packedSuffix = '.agentdump.zip';
export const encryptedSuffix = '.agentdump.zip.age';
export const manifestName = 'manifest.json';
/** One JSON document per line while the bundle is being written: the contents of the manifest as far as they are known. */
export const progressName = 'progress.jsonl';
/** Space that is released when the disk is full, so that the bundle can still be sealed. */
export const reserveName = 'reserve.unfinished';
/** In the dump folder, beside the bundles: when each signature was seen. */
export const signatureLogName = 'signatures.log';
/** In the dump folder: how often `agentdump run` started what, for a store (keep/starts.ts). */
export const startsFolder = 'starts';
/** Set for a program whose bundles are read and then removed by the process that started it. */
export const passingVariable = 'AGENTDUMP_PASSING';
/** Appended to a part's name while it is being written: such a file is never a part. */
export const unfinishedSuffix = '.unfinished';

/** Parts in the order of their value, which is the order of writing. */
export const partNames = {
  trigger: 'trigger.json',
  evidence: 'evidence.json',
  error: 'error.json',
  /** Which request, test or run the code was working for, and the requests in flight (layout/origin.ts). */
  origin: 'origin.json',
  /** The tests that ran, for a test runner (layout/tests.ts). */
  tests: 'test.json',
  agent: 'agent.json',
  /** What the agent was doing, from the memory of the dying process (src/journal/layout/agent.ts). */
  agentEvents: 'agent-events.json',
  /** Events around the death that ended nothing: logs, warnings, handled errors, children. */
  processEvents: 'process-events.json',
  /** The segments of the flight recorder, concatenated (src/journal/FORMAT.md). */
  journal: 'recorder.journal',
  process: 'process.json',
  locals: 'locals.json',
  /** Where async functions were suspended. */
  suspended: 'suspended.json',
  scripts: 'scripts.json',
  memory: 'memory.json',
  handles: 'handles.json',
  environment: 'environment.json',
  packages: 'packages.json',
  nativeModules: 'native-modules.json',
  threads: 'threads.json',
  /** Where the worker threads were, for a capture from outside. */
  workerStacks: 'worker-stacks.json',
  drift: 'drift.json',
  report: 'report.json',
  /** The memory of a core that the analysis reads, gzipped: a valid core, its texts redacted in place. */
  miniCore: 'mini-core.gz',
  /** Who allocated what is still alive, if memory came near its limit. */
  heapProfile: 'heap-profile.json',
  /** How many objects of each class there are, if a snapshot did not fit. */
  heapCensus: 'heap-census.json',
  heapSnapshot: 'heap.heapsnapshot.gz',
} as const;
/**
 * Texts of scripts on the stack are parts named `sources/<n>.txt`, and their maps `maps/<n>.map`. Not `.js`, as they once were: the
 * linter of the project whose folder they are in would check them.
 */
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
  /** The number of values withheld, by rule and part; never a value. */
  redactions: { rule: string; part: string; count: number }[];
  /** Milliseconds from the trigger to the seal. */
  tookMs: number;
}

export interface ManifestPart {
  name: string;
  bytes: number;
  /** Lower-case hexadecimal SHA-256 of the file's bytes. */
  sha256: string;
  /** False if the part was cut at a limit; a gap says so. */
  complete: boolean;
}

export interface ManifestGap {
  part: string;
  reason: string;
  lookedFor?: string;
}

/** The fields of the manifest that are known from the start. */
export type ManifestHead = Pick<
  Manifest,
  'schema' | 'version' | 'id' | 'createdAt' | 'writer' | 'program' | 'verdictKind'
>;

/** A line of `progress.jsonl`. It is written before the part gets its name. */
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
  /** The agent made no progress for longer than allowed, or repeated itself; the process continues. */
  | 'no-progress'
  /** The event loop of the main thread is blocked. Written while it is; the process continues. */
  | 'stall'
  /** Written after the death by another process: the parent that saw the exit, or one that found the session later. */
  | 'supervised-exit'
  | 'found-dead'
  /** Written from outside while the process runs: on request, or because it did not respond for too long. */
  | 'capture'
  | 'silence';

/**
 * `trigger.json`: why the bundle was written. It is the first part; a bundle that has only this one can already be
 * summarized.
 */
export interface TriggerPart {
  id: string;
  /** Repeated here, so that a bundle without a manifest has a version too. */
  schemaVersion: number;
  kind: TriggerKind;
  /** The verdict kind in the folder's name. Analysis may conclude otherwise. */
  verdictKind: string;
  at: string;
  program: string;
  pid: number;
  threadId: number;
  isMainThread: boolean;
  nodeVersion: string;
  /** The argument of `dump(reason)`. */
  reason?: string;
  /**
   * `fromItself`: sent by the program with process.kill. `heardMsBefore`: the program sent it after having received it from
   * outside, this long before.
   */
  signal?: { name: string; number: number; fromItself?: true; heardMsBefore?: number };
  /** The exit code that the process was about to exit with; for an uncaught exception, only if it is not 1. */
  exitCode?: number;
  /**
   * The stack that called process.exit, or process.kill for a signal `fromItself`; for a live capture, where the main
   * thread was interrupted.
   */
  exitStack?: string;
  /** For a live capture: the main thread could not be asked for its stack, because another process had the inspector's port. */
  unasked?: 'port-taken';
  /** The host has its own listener for this event, so the process may have continued. */
  handledByHost: boolean;
  /**
   * For a thrown value, as far as it is known: the main module had not finished, or the program was already at work, so
   * that a module which failed to load was loaded on demand.
   */
  phase?: 'starting' | 'at-work';
  /** The event, if Node provides it: `uncaughtException` or `unhandledRejection`. */
  origin?: string;
  /** What the program handles it with, if `handledByHost`: a listener of the event, or the callback that replaces listeners. */
  handledBy?: 'uncaughtException' | 'unhandledRejection' | 'captureCallback';
  /** The process was ending already: it was thrown while `exit` was emitted, and the exit code stays. */
  atExit?: true;
  /** A handler of uncaught exceptions threw it, so that Node ends the process: which one, and the bundle of the error that it was given. */
  thrownBy?: {
    handler: 'uncaughtException' | 'captureCallback' | 'uncaughtExceptionMonitor';
    bundle: string;
  };
  /** For a worker's death, written by its parent thread. */
  worker?: {
    threadId: number;
    name?: string;
    exitCode: number;
    resourceLimits?: Record<string, number>;
  };
  /** For a worker's death, written by the worker: the name that the program gave it, and its file. */
  thread?: { name?: string; file?: string };
  /** How many deaths with the same signature were counted but not stored since the last bundle. */
  repeats?: number;
  /** With exit 13: what kept the process waiting (kinds from process.getActiveResourcesInfo). */
  pending?: string[];
  /** No exit code was set when the event loop ran empty, and no code of the program ran between that and exit code 13. */
  setByNode?: true;
  /** For an exit: a test had begun in this process and not ended. */
  duringTest?: true;
  /** For a lack of progress: what was observed. */
  silence?: SilenceFacts;
  /** Id of its flight recorder's session, if there was one. Its children refer to it. */
  recorderId?: string;
  /** The state of the blocked event loop, for a stall or for a signal during one. */
  stall?: StallFacts;
  /** For an exit: moments before, a server could not listen, and none was told to since; `stack` is that of the call. */
  failedListen?: { message: string; stack?: string };
}

/** Observed by the watchdog, from another thread. */
export interface StallFacts {
  /** How long the loop had not turned when it was observed. */
  silentMs: number;
  /** The limit for that. */
  limitMs: number;
  /** Where the main thread was: running JavaScript, or in native code that can't be interrupted. */
  where: 'javascript' | 'native';
  /** CPU time that the main thread used during `silentMs`, with the resolution of a clock tick (10 ms). */
  cpuMs?: number;
  /** How long of that the main thread was ready to run but had no processor; absent if the kernel does not say. */
  queuedMs?: number;
  /** If it did not answer: CPU time that it used afterwards, while it was asked. */
  cpuWhileAskedMs?: number;
  /** Microtasks ran while the loop was blocked: promises starve it. */
  microtasksRan?: boolean;
  /** Type of the async resource whose callback was running, as async_hooks names it. */
  callback?: string;
  /** Further stacks as text: one taken a moment after `exitStack`, then one for each function that returned. */
  laterStacks?: string[];
  /** The number of stalls of this process that were reported before. */
  earlier: number;
}

/** Durations in milliseconds. */
export interface SilenceFacts {
  silentMs: number;
  deadlineMs: number;
  /** What counted as progress: `any`, `steps` or `progress`. */
  signs: string;
  /** Kind of the last agent event that counted; absent if there was none. */
  lastSign?: string;
  /**
   * The same calls with the same results, `length` per turn, in `times` consecutive turns; reported before the deadline.
   */
  repeated?: { length: number; times: number };
  /** 1 for the process's first bundle of this kind. */
  count: number;
}
