/**
 * The bundle on disk: names of its parts and the shape of each, shared by the writer (in the dying process) and the
 * reader (later, elsewhere). FORMAT.md is the specification; a change here edits it and adds a step to upgrade.ts in
 * the same commit. Types and constants only: the preload carries this file.
 */

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
/** Appended to a part's name while it is being written: such a file is never a part. */
export const unfinishedSuffix = '.unfinished';

/** Parts in the order of their value, which is the order of writing. */
export const partNames = {
  trigger: 'trigger.json',
  evidence: 'evidence.json',
  error: 'error.json',
  /** The tests that ran, of a test runner (layout-tests.ts). */
  tests: 'test.json',
  agent: 'agent.json',
  /** What the agent was doing, as the memory of the dying process still held it (src/journal/layout-agent.ts). */
  agentEvents: 'agent-events.json',
  /** What happened around it and ended nothing: logs, warnings, handled errors, children. */
  processEvents: 'process-events.json',
  /** The flight recorder's segments, end to end (src/journal/FORMAT.md). */
  journal: 'recorder.journal',
  process: 'process.json',
  locals: 'locals.json',
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
  signal?: { name: string; number: number };
  /** Exit code that the process was about to end with. */
  exitCode?: number;
  /** Text of the stack that called process.exit; of a live capture, where the main thread was interrupted. */
  exitStack?: string;
  /** The host has a listener of its own for this event, so the process may have gone on. */
  handledByHost: boolean;
  /** Which event, where Node tells: `uncaughtException` or `unhandledRejection`. */
  origin?: string;
  /** For a worker's death, written by its parent thread. */
  worker?: { threadId: number; name?: string; exitCode: number; resourceLimits?: Record<string, number> };
  /** Same signature in quick succession: how many were counted and not stored since the last bundle. */
  repeats?: number;
  /** What still kept the process waiting (kinds of process.getActiveResourcesInfo), with exit 13. */
  pending?: string[];
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

/** `process-events.json`. Times are ISO 8601 UTC. */
export interface ProcessEventsPart {
  /** The ends of what was written to the standard streams. `target`: a file or socket, which could not be followed. */
  logs: { stream: 'stdout' | 'stderr'; text: string; writtenAt?: string; target?: string }[];
  warnings: { at: string; name: string; message: string; code?: string; stack?: string }[];
  handled: (SomeError & { at: string; kind: 'exception' | 'rejection' })[];
  children: ChildEventPart[];
  peaks: { at: string; resource: string; value: number; limit?: number }[];
  /** The process that started this one, where it left its name in the same dump folder. */
  parent?: { pid: number; recorderId?: string; bundle?: BundleLink };
}

interface SomeError {
  name?: string;
  message: string;
  code?: string | number;
  stack?: string;
  origin?: string;
}

export interface ChildEventPart {
  pid: number;
  /** Redacted, and cut. */
  command: string;
  startedAt: string;
  /** When the end was noticed; absent while it runs. */
  endedAt?: string;
  exitCode?: number;
  signal?: string;
  /** The end of its standard error, as far as the program read it. */
  stderrTail?: string;
  error?: string;
  /** What it wrote about its own end, when it had the preload too. */
  bundle?: BundleLink;
}

export interface BundleLink {
  id: string;
  /** Name of its folder, beside this one. */
  name: string;
}

/** `error.json`: the thrown value, whatever it was. */
export interface ErrorPart {
  error: SerializedError;
  /** Positions of the stack as V8 holds them, whatever Error.prepareStackTrace printed. Lines and columns 1-based. */
  frames?: RawFrame[];
  /** Where the rejected promise was made or rejected, where known. */
  promiseStack?: string;
  /** It was the value of an `error` event without a listener: the class of what emitted it, and the stack of the emit. */
  emitter?: { className: string; stack: string };
}

export interface SerializedError {
  /** typeof the value; `object` for errors. */
  type: string;
  isError: boolean;
  name?: string;
  /** Name of the constructor, which Node prints where `name` was left at `Error`. */
  className?: string;
  message?: string;
  /** The stack's text as the host would have printed it. */
  stack?: string;
  code?: string | number;
  /** String form of a thrown value that is no error. */
  text?: string;
  /** Own properties but those above. Values cut by depth, count and size. */
  properties?: Record<string, unknown>;
  cause?: SerializedError;
  errors?: SerializedError[];
  /** What could not be read or was cut, e.g. `stack: getter threw`. */
  gaps?: string[];
}

export interface RawFrame {
  functionName: string;
  scriptId: string;
  url: string;
  line: number;
  column: number;
}

/** `locals.json`: frames of the throw point with their variables, when the debugger was armed. */
export interface LocalsPart {
  frames: (RawFrame & {
    scopes: { type: string; name?: string; variables: { name: string; value: string }[] }[];
  })[];
}

/** `worker-stacks.json`: frames as in `locals.json`, innermost first; none of a worker that was idle. */
export interface WorkerStacksPart {
  workers: {
    workerId: string;
    title: string;
    url: string;
    idle: boolean;
    frames: LocalsPart['frames'];
  }[];
}

/** `scripts.json`: every loaded script, and where the bundle keeps the text of those on the stack. */
export interface ScriptsPart {
  scripts: LoadedScript[];
}

export interface LoadedScript {
  scriptId: string;
  url: string;
  /** V8's hash of the text. */
  hash: string;
  isModule: boolean;
  lengthChars?: number;
  /** As the script says it, but for a data: URL, of which only `data:` is kept here and the map is a part. */
  sourceMapUrl?: string;
  /** Name of the part with the text that was running. */
  sourcePart?: string;
  /** Name of the part with its source map. */
  mapPart?: string;
  /** Parts with the originals that the map names but does not hold, by the name in the map's `sources`. */
  originalParts?: Record<string, string>;
  /** Why there is no map part although the script names a map. */
  mapGap?: string;
}

/** `process.json`. */
export interface ProcessPart {
  pid: number;
  parentPid: number;
  title: string;
  argv: string[];
  execArgv: string[];
  execPath: string;
  cwd: string;
  versions: Record<string, string>;
  platform: string;
  arch: string;
  startedAt: string;
  uptimeMs: number;
  threadId: number;
  resourceUsage: Record<string, number>;
  limits: Record<string, { soft: string; hard: string }>;
  cgroup: Record<string, string | number>;
  container?: string;
  workers?: { threadId: number; name?: string }[];
}

/** `memory.json`: sizes in bytes, straight from V8 and the kernel. */
export interface MemoryPart {
  usage: Record<string, number>;
  heap: Record<string, number>;
  spaces: Record<string, number | string>[];
  system: { totalBytes: number; availableBytes: number };
  /** What the heap tier decided and why. */
  heapTier: { wanted: string; taken: string; reason: string; estimatedBytes?: number; estimatedMs?: number };
}

/** `heap-profile.json`: samples of what was allocated since the profiler was armed and is still alive. Bytes. */
export interface HeapProfilePart {
  at: string;
  /** Of the limit that is nearest, when it was taken. */
  usedBytes: number;
  limitBytes: number;
  /** Over all samples. */
  sampledBytes: number;
  /** The largest first; they do not overlap. */
  rows: AllocationRow[];
}

export interface AllocationRow {
  bytes: number;
  /** `function (url:line:column)`, the allocating function first. */
  stack: string[];
}

/** `handles.json`. */
export interface HandlesPart {
  /** Kinds from process.getActiveResourcesInfo, counted. */
  resources: Record<string, number>;
  descriptors: { fd: number; kind: string; target: string }[];
  /** Descriptors in all; more than the list has when it was cut. */
  descriptorCount: number;
  sockets: { fd?: number; protocol: string; local?: string; remote?: string; state?: string }[];
  timers: { kind: string; count: number }[];
  children: { pid: number; command: string }[];
  /** Where what is open was opened, most first; only when armed. `stack`: up to four frames of the program. */
  creators?: { kind: string; count: number; stack: string }[];
}

export type EnvironmentEntry = { value: string } | { withheld: string };

/** `environment.json`. */
export interface EnvironmentPart {
  variables: Record<string, EnvironmentEntry>;
  os: {
    type: string;
    release: string;
    version: string;
    hostname: string;
    uptimeSeconds: number;
    loadAverage: number[];
    cpus: number;
  };
}

/** `packages.json`: packages from which a script was loaded, and the program's own. */
export interface PackagesPart {
  packages: {
    name: string;
    version?: string;
    path: string;
    /** Range in the program's own package.json. */
    requested?: string;
    isProgram?: boolean;
    scripts: number;
  }[];
}

/** `native-modules.json`: objects mapped into the process. Addresses are hex strings. */
export interface NativeModulesPart {
  modules: { path: string; base: string; end: string; buildId?: string }[];
}

/** `threads.json`: the operating system's threads of this process. */
export interface ThreadsPart {
  threads: {
    tid: number;
    name: string;
    state: string;
    syscall?: string;
    sp?: string;
    pc?: string;
    cpuMs?: number;
  }[];
}

/** `drift.json`: what the lock file says against what is installed. */
export interface DriftPart {
  lockFile: string;
  kind: 'npm' | 'pnpm' | 'yarn' | 'bun';
  /** The module that could not be loaded, when that was the death. */
  missing?: { specifier: string; from?: string };
  differences: {
    name: string;
    path?: string;
    requested?: string;
    locked?: string;
    installed?: string;
    problem: string;
  }[];
  compared: number;
}

/** `agent.json`: what the host handed over. */
export interface AgentPart {
  state: Record<string, unknown>;
  providers: Record<string, { value?: unknown; gap?: string; tookMs: number }>;
}
