/**
 * The parts that describe the surroundings of a death: what happened before it, code, process, memory, handles,
 * environment, threads, and the state that the host provided. Names and units are those of the files.
 */
import type { RawFrame } from './error.ts';
import type { RequestFacts } from './origin.ts';

/** `process-events.json`. Times are ISO 8601 UTC. */
export interface ProcessEventsPart {
  /** The last output on the standard streams. `target`: a file or socket, whose contents could not be recorded. */
  /** `pino`: lines of that logger, which writes past the streams, wherever they went. */
  logs: { stream: 'stdout' | 'stderr' | 'pino'; text: string; writtenAt?: string; target?: string }[];
  warnings: { at: string; name: string; message: string; code?: string; stack?: string }[];
  handled: (SomeError & { at: string; kind: 'exception' | 'rejection' })[];
  children: ChildEventPart[];
  /** Connections that failed, by what failed and its message. `stack`: what began the last of them. */
  connections: { what: string; message: string; times: number; lastBegunAt: string; stack: string }[];
  peaks: { at: string; resource: string; value: number; limit?: number }[];
  /** The process that started this one, if it has a session in the same dump folder. */
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
  /** Redacted, and shortened. */
  command: string;
  startedAt: string;
  /** When its end was noticed; absent while it is running. */
  endedAt?: string;
  exitCode?: number;
  signal?: string;
  /** The end of its stderr, as far as the program read it. */
  stderrTail?: string;
  error?: string;
  /** Its own bundle, if it had the preload too. */
  bundle?: BundleLink;
}

export interface BundleLink {
  id: string;
  /** Name of its folder, beside this one. */
  name: string;
}

/** `suspended.json`: suspended async functions, if nothing was thrown. */
export interface SuspendedPart {
  /** The number of promises that were examined. */
  promises: number;
  /**
   * Lines `at async …` in V8's form, innermost first, positions not mapped. Each text once, however many promises wait
   * there.
   */
  stacks: string[];
}

/** `scripts.json`: every loaded script, and which parts contain the text of those on the stack. */
export interface ScriptsPart {
  scripts: LoadedScript[];
  /** Where the listeners of the program for the event are defined, if it has any. */
  handlers?: RawFrame[];
}

export interface LoadedScript {
  scriptId: string;
  url: string;
  /** V8's hash of the text. */
  hash: string;
  isModule: boolean;
  lengthChars?: number;
  /** As in the script, except for a data: URL: only `data:` is kept here, and the map is a part. */
  sourceMapUrl?: string;
  /** Name of the part with the text that was running. */
  sourcePart?: string;
  /** Of a long text only the lines near the stack are there; the others are empty. */
  isExcerpt?: true;
  /** One of all the scripts that contain what the analysis may look for without a stack; absent if some could not be read. */
  isSought?: true;
  /** Name of the part with its source map. */
  mapPart?: string;
  /** Parts with the original sources that the map refers to but does not contain, by their names in the map's `sources`. */
  originalParts?: Record<string, string>;
  /** Why there is no map part although the script refers to a map. */
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

/** `memory.json`: sizes in bytes, as V8 and the kernel report them. */
export interface MemoryPart {
  usage: Record<string, number>;
  heap: Record<string, number>;
  spaces: Record<string, number | string>[];
  system: { totalBytes: number; availableBytes: number };
  /** Only where much memory is neither V8's heap nor external memory. */
  mapped?: MappedMemory;
  /** What was chosen for the heap, and why. */
  heapTier: {
    wanted: string;
    taken: string;
    reason: string;
    estimatedBytes?: number;
    estimatedMs?: number;
    highestBytes?: number;
  };
}

/** Resident memory by what it is mapped for, in bytes. */
export interface MappedMemory {
  /** malloc's main arena (the program break) and its further arenas, which threads use; larger blocks are not in them. */
  mallocBytes: number;
  /** Number of further arenas. */
  mallocArenas: number;
  stackBytes: number;
  fileBytes: number;
  /** V8's heap, malloc's large blocks, WebAssembly and the rest. */
  otherBytes: number;
}

/** `heap-profile.json`: samples of allocations since the profiler was started that are still alive. In bytes. */
export interface HeapProfilePart {
  at: string;
  /** Use at the time, out of the limit that was nearest. */
  usedBytes: number;
  limitBytes: number;
  /** The sum of all samples. */
  sampledBytes: number;
  /** Sorted by size, largest first; they don't overlap. */
  rows: AllocationRow[];
  /** The heap grew in one stretch of a request's work; absent where that was not seen. */
  growth?: HeapGrowth;
}

/**
 * Sizes of the old generation at the first and the last look at it in one stretch of synchronous code, in the context of this
 * request.
 */
export interface HeapGrowth {
  fromBytes: number;
  toBytes: number;
  request: RequestFacts;
}

export interface AllocationRow {
  bytes: number;
  /** `function (url:line:column)`, the allocating function first. */
  stack: string[];
}

/** `heap-census.json`: counts of objects by class, without strings and V8's internal objects. */
export interface HeapCensusPart {
  /** All objects that inherit from Object.prototype; with `sample`, an estimate for those that were reached. */
  objects: number;
  /** Not all objects were counted: this many were examined, and the counts are extrapolated. */
  sample?: { lookedAt: number; reason: string };
  /** By constructor name, the most frequent first; `Object` for plain objects. */
  classes: { name: string; count: number }[];
  /** Plain objects by their keys, extrapolated from a sample. */
  shapes: { name: string; count: number }[];
  /**
   * The largest arrays, Maps and Sets; `of` is the class of an array's last element, `at` the path by which it was reached.
   */
  collections: { name: string; entries: number; of?: string; at?: string }[];
  /** How long it took. */
  ms: number;
}

/** `handles.json`. */
export interface HandlesPart {
  /** Worker threads whose event loop was not idle when it was looked at. */
  busyWorkers?: {
    threadId: number;
    name?: string;
    lookedMs: number;
    activeMs: number;
    inAllMs: number;
  }[];
  /** Kinds from process.getActiveResourcesInfo with their counts. */
  resources: Record<string, number>;
  descriptors: { fd: number; kind: string; target: string }[];
  /** The number of descriptors; higher than the length of the list if that was cut. */
  descriptorCount: number;
  sockets: { fd?: number; protocol: string; local?: string; remote?: string; state?: string }[];
  timers: { kind: string; count: number }[];
  children: { pid: number; command: string }[];
  /** Where open handles were opened, the most frequent first; only if armed. `stack`: up to four frames of the program. */
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

/** `packages.json`: the packages that scripts were loaded from, and the program's own. */
export interface PackagesPart {
  packages: {
    name: string;
    version?: string;
    path: string;
    /** The range in the program's package.json. */
    requested?: string;
    isProgram?: boolean;
    scripts: number;
  }[];
}

/** `native-modules.json`: shared objects mapped into the process. Addresses are hex strings. */
export interface NativeModulesPart {
  modules: { path: string; base: string; end: string; buildId?: string }[];
}

/** `threads.json`: the system threads of this process. */
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

/** `drift.json`: the lock file compared with what is installed. */
export interface DriftPart {
  lockFile: string;
  kind: 'npm' | 'pnpm' | 'yarn' | 'bun';
  /** The module that could not be loaded, if that was the cause of death. */
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

/** `agent.json`: the state that the host provided. */
export interface AgentPart {
  state: Record<string, unknown>;
  providers: Record<string, { value?: unknown; gap?: string; tookMs: number }>;
}
