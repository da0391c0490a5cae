/**
 * The session file, next to a journal: allows a later reader to determine whether its process is alive, ended by itself, or
 * died. One folder per session: `<dir>/sessions/<id>/`. Types and names only.
 */
export const sessionsFolder = 'sessions';
export const sessionName = 'session.json';
export const sessionSchema = 'agentdump.session';
export const sessionVersion = 1;
/**
 * A link that a finisher creates in the session's folder. The process that created it finishes the session; all others leave
 * it alone.
 */
export const finisherLockName = 'finishing';
/** What the parent saw of the end, in the session's folder (`ObservedExit`). */
export const observedExitName = 'exit.json';
/**
 * Where Node writes its own fatal report, unredacted, until a finisher has redacted it: a private folder with this name and
 * the session's id, in memory (/dev/shm) or in the system's folder for temporary files.
 */
export const diagnosticsPrefix = 'agentdump-';
/** The id of the session that the parent has already opened for the process that it starts. */
export const sessionVariable = 'AGENTDUMP_SESSION';

/**
 * The session of the supervisor's program and an ephemeral key, as `<id>.<64 hexadecimal digits>`. Values that a descendant
 * process withholds are encrypted with the key and appended to the file in that session's folder (write/withheld-values.ts).
 */
export const withheldVariable = 'AGENTDUMP_WITHHELD_KEY';
export const withheldName = 'withheld';

/** A program begins its journal after this time, or at the first sign of an agent. */
export const journalBeginsAfterMs = 2000;

/** `alive` means that it was alive at the last write. */
export type SessionState = 'alive' | 'ended';

/** Facts about a process that the machine only provides while it is alive. Unavailable facts are absent. */
export interface ProcessIdentity {
  pid: number;
  parentPid: number;
  /**
   * Clock ticks from boot to the start of the process (field 22 of /proc/<pid>/stat). Together with the pid it identifies a
   * process.
   */
  startTicks?: string;
  bootId?: string;
  /** `pid:[4026531836]`: pids can only be compared within one namespace. */
  pidNamespace?: string;
  hostname: string;
}

export interface MemoryLimits {
  /** Folder of the memory controller's cgroup. */
  cgroup?: string;
  cgroupBytes?: number;
  /** Out-of-memory kills in that cgroup, and on the whole machine, at the start of the session. */
  cgroupOomKillsAtStart?: number;
  hostOomKillsAtStart?: number;
}

export interface SessionFacts {
  schema: typeof sessionSchema;
  version: number;
  /** 16 lower-case hexadecimal digits. Also the name of the session's folder and the id of the bundle of its death. */
  id: string;
  state: SessionState;
  process: ProcessIdentity;
  memory: MemoryLimits;
  program: string;
  /** Redacted. */
  command: string[];
  cwd: string;
  nodeVersion: string;
  startedAt: string;
  heapLimitBytes?: number;
  /** The journal is written at least this often while the process is alive; 0: no guarantee. */
  heartbeatMs: number;
  /** Session of the process that started this one. */
  parentSession?: string;
  /** The process that opened the session for its child and will explain its end: `<boot id>:<pid>:<start ticks>`. */
  supervisor?: string;
  /** Present only if the session has ended. */
  endedAt?: string;
  exitCode?: number;
  /** Folder name of the bundle that the process wrote about its own end. */
  bundle?: string;
}

/**
 * The end of a session's process, as noted by its parent, if that has the preload too. Without `signal` and `code`: the parent had
 * sent it a signal, and ended before it.
 */
export interface ObservedExit {
  at: string;
  signal?: string;
  code?: number;
  /** The parent itself had sent a signal. */
  byParent?: boolean;
  /** From the status of the shell that was between the two. */
  inferred?: boolean;
}

/** A reader's conclusion from the session file and the machine it runs on. */
export type SessionFate =
  /** The same process is running. */
  | 'alive'
  /** It recorded its end. */
  | 'ended'
  /** It is no longer running and did not record its end. */
  | 'died'
  /** It ran on another machine or in another pid namespace, and nothing proves its death. */
  | 'elsewhere';

export interface SessionFinding {
  fate: SessionFate;
  /** The reason in one sentence, with the figures. */
  because: string;
  /** With `died`: the machine has been rebooted since. */
  rebooted?: boolean;
  /** With `died`: its pid now belongs to another process. */
  pidReused?: boolean;
}
