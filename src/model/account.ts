/**
 * The account of a death: the JSON document `agentdump.analysis/1`, from which every report is rendered. Every field except
 * `schema` and `gaps` may be absent. Addresses are hex strings, times ISO 8601 UTC, and names contain the unit.
 */
import type { AgentState } from './agent-state.ts';
import type { OriginFacts, RequestAccount } from './origin.ts';
import type { TestFacts } from './tests.ts';
import type { Thread } from './thread.ts';
import type { Gap, Verdict, VerdictHead } from './verdict.ts';

export const accountSchema = 'agentdump.analysis/1';

export interface Account {
  schema: typeof accountSchema;
  bundle?: AccountBundle;
  verdict?: Verdict;
  signature?: Signature;
  process?: ProcessFacts;
  error?: ErrorFacts;
  signal?: SignalFacts;
  threads?: Thread[];
  /** Async functions that were waiting, read off the heap of a core or told by V8: what everyone was waiting for. */
  suspended?: SuspendedStack[];
  modules?: { packages: PackageFacts[]; native: NativeModuleFacts[] };
  /** That were being answered; the one whose work died first. */
  requests?: RequestAccount[];
  /** Whose work the code was. */
  origin?: OriginFacts;
  agent?: AgentState;
  memory?: MemoryFacts;
  environment?: EnvironmentFacts;
  /** What happened around the agent and ended nothing. */
  happenings?: ProcessEvents;
  gaps: Gap[];
}

/** Oldest first. */
export interface ProcessEvents {
  /** The ends of the standard streams; `target`: where it went, when it could not be followed. */
  logs?: { stream: string; text: string; writtenAt?: string; target?: string }[];
  warnings?: { at?: string; name: string; message: string; code?: string }[];
  /** A handler of the program received them. */
  handled?: { at?: string; kind: 'exception' | 'rejection'; name?: string; message: string; code?: string }[];
  children?: ChildFacts[];
  /** Connections that failed. `by`: the package that began the last of them. */
  connections?: { what: string; message: string; times: number; lastBegunAt?: string; by?: string }[];
  peaks?: { at?: string; resource: string; value: number; limit?: number }[];
  parent?: { pid: number; recorderId?: string; bundle?: { id: string; name: string } };
}

export interface ChildFacts {
  pid: number;
  command: string;
  startedAt?: string;
  /** When the end was noticed; absent while it ran. */
  endedAt?: string;
  exitCode?: number;
  signal?: string;
  stderrTail?: string;
  error?: string;
  bundle?: { id: string; name: string };
  /** What its own bundle says, where that lies beside this one. */
  verdict?: VerdictHead;
}

export interface AccountBundle {
  id: string;
  path: string;
  capturedAt: string;
  sealed: boolean;
  parts: { name: string; bytes: number; sha256?: string; complete: boolean }[];
  /** Values that were withheld before the bundle was written, by rule and part; never a value. */
  redactions?: { rule: string; part: string; count: number }[];
  /** What became of the process, of a bundle of a living one, where somebody recorded it. */
  sequel?: {
    event: 'recovered' | 'ended' | 'died' | 'handling';
    at: string;
    silentMs?: number;
    exitCode?: number;
    /** The program's handler threw the error again that it was given. */
    rethrown?: true;
    /** Name of the bundle of the other error that the handler threw. */
    next?: string;
  };
}

export interface Signature {
  id: string;
  version: number;
  /** What was hashed, in order, so that a person can see why two deaths are one. */
  parts: string[];
}

export interface ProcessFacts {
  pid?: number;
  parentPid?: number;
  nodeVersion?: string;
  v8Version?: string;
  platform?: string;
  arch?: string;
  cwd?: string;
  argv?: string[];
  execArgv?: string[];
  startedAt?: string;
  uptimeMs?: number;
  /** Nobody saw the end: it is the time until the process last gave a sign of life. */
  uptimeIsMinimum?: true;
  threadId?: number;
  exit?: { code?: number; signal?: string };
  limits?: Record<string, { soft: string; hard: string }>;
  cgroup?: Record<string, string | number>;
  container?: string;
  /** The tests that ran in it, where a test runner told of them. */
  test?: TestFacts;
}

export interface ErrorFacts {
  name?: string;
  message?: string;
  code?: string;
  cause?: ErrorFacts;
  errors?: ErrorFacts[];
  properties?: Record<string, unknown>;
  stackText?: string;
  frames?: Thread['frames'];
  /** What failed in Node's own code, and where the program began it: a request, a connection, a child's stream. */
  begun?: { what: string; frames: Thread['frames'] };
  /**
   * For a thrown value that is no error: the code whose text gives that value, which is likely what threw it if it is the only one. For the
   * error of a time limit: the calls of AbortSignal.timeout. For an error without a frame of the program: the calls that can have started
   * what failed. For a module that could not be linked: the import.
   */
  likelyThrown?: Thread['frames'];
  /** The host had a handler for it: the process may have gone on. */
  handled?: boolean;
}

export interface SignalFacts {
  name: string;
  number?: number;
  code?: string;
  /** The program sent it to itself. */
  fromItself?: true;
  /** With `fromItself`: how long before it had come from outside. */
  heardMsBefore?: number;
  /** The process that sent it, by the kernel's word; 0 for one outside of the namespace. */
  sentBy?: { pid: number; uid: number };
  faultAddress?: string;
  access?: 'read' | 'write' | 'execute';
  /** What happened, in words: "write through a null pointer". */
  description?: string;
  /** Where the facts are from: the kernel's note, or a signal frame that was left on the stack. */
  evidence?: string;
  /** Bytes from the instruction that faulted, hexadecimal. */
  instruction?: string;
}

/** The innermost first: each frame's function awaits the one before it. */
export interface SuspendedStack {
  /** How many were waiting alike; the values are those of the first. Absent where it is not known. */
  count?: number;
  frames: Thread['frames'];
}

export interface PackageFacts {
  name: string;
  version?: string;
  path: string;
  /** The range that the program's package.json asks for. */
  requested?: string;
  /** How what is installed differs from the lock file. */
  drift?: string;
}

export interface NativeModuleFacts {
  path: string;
  base: string;
  end: string;
  buildId?: string;
}

export interface MemoryFacts {
  rssBytes?: number;
  heapUsedBytes?: number;
  heapLimitBytes?: number;
  history?: MemorySample[];
  /** Sizes are absent where the objects were counted without a snapshot. */
  classes?: { name: string; count: number; selfSizeBytes?: number; retainedSizeBytes?: number }[];
  /** The counts are estimates from so many objects; `reason`: which ones, and why no more. */
  sample?: { lookedAt: number; reason: string };
  suspects?: MemorySuspect[];
  /** The heap's dominator tree by class, in rows: each object counted once, so the bytes of all rows are the heap's. */
  retained?: RetainedFrame[];
}

export interface RetainedFrame {
  name: string;
  /** Row of what keeps it alive, always before it; -1 for the first, the heap itself. */
  parent: number;
  /** Of this row alone. */
  bytes: number;
  count: number;
}

export interface MemorySample {
  at: string;
  rssBytes?: number;
  heapUsedBytes?: number;
  externalBytes?: number;
  cgroupBytes?: number;
}

export interface MemorySuspect {
  rule: string;
  title: string;
  sentence: string;
  retainedSizeBytes?: number;
  confidence: Verdict['confidence'];
  evidence: Verdict['evidence'];
}

export type EnvironmentValue = { value: string } | { withheld: string };

export interface EnvironmentFacts {
  os?: Record<string, string | number>;
  variables?: Record<string, EnvironmentValue>;
  handles?: HandleFacts[];
  connections?: ConnectionFacts[];
  /** Limits nearly reached, things that pile up, settings that bite; the most alarming first. */
  unusual?: UnusualFact[];
}

export interface UnusualFact {
  level: 'alarm' | 'notice';
  /** One sentence without its full stop, with the figures. */
  fact: string;
  /** The bundle part that shows it. */
  part: string;
}

/** One row a kind of thing that keeps the process alive or holds a descriptor. */
export interface HandleFacts {
  kind: string;
  count: number;
  detail?: string;
}

export interface ConnectionFacts {
  protocol: string;
  local?: string;
  remote?: string;
  state?: string;
}
