/**
 * The parts that hold what was around a death: what happened before it, code, process, memory, handles, environment,
 * threads, and what the host handed over. Spelling and units are those of the files.
 */

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

/** `suspended.json`: functions that awaited something, where nothing was thrown. */
export interface SuspendedPart {
  /** Promises that were looked at. */
  promises: number;
  /** Lines `at async …` in V8's form, the innermost first, positions not mapped. Each text once, however many waited so. */
  stacks: string[];
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
  /** Of a long text only what is near the stack is there; the other lines are empty. */
  isExcerpt?: true;
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
  heapTier: {
    wanted: string;
    taken: string;
    reason: string;
    estimatedBytes?: number;
    estimatedMs?: number;
    highestBytes?: number;
  };
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

/** `heap-census.json`: objects by class, counted one by one; strings and V8's own are not among them. */
export interface HeapCensusPart {
  /** All that inherit from Object.prototype; with `sample` about so many, of those that were reached. */
  objects: number;
  /** The objects were not all counted: so many were looked at, and the counts are scaled up from them. */
  sample?: { lookedAt: number; reason: string };
  /** By the name of the constructor, the most first; `Object` for plain ones. */
  classes: { name: string; count: number }[];
  /** Plain objects by their keys, about: scaled up from a sample. */
  shapes: { name: string; count: number }[];
  /** The largest arrays, Maps and Sets; `of` is the class of an array's last element, `at` how it was reached. */
  collections: { name: string; entries: number; of?: string; at?: string }[];
  /** How long it took. */
  ms: number;
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
