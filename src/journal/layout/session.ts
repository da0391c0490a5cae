/**
 * The session file: the sentinel beside a journal, from which somebody who comes later tells whether its process is
 * alive, ended by itself, or died. One folder a session: `<dir>/sessions/<id>/`. Types and names only.
 */
export const sessionsFolder = 'sessions';
export const sessionName = 'session.json';
export const sessionSchema = 'agentdump.session';
export const sessionVersion = 1;
/** Link that a finisher makes in the session's folder: whoever made it finishes, all others leave it alone. */
export const finisherLockName = 'finishing';
/**
 * Where Node puts its own fatal report, in the clear, until a finisher has scrubbed it: a private folder of this name
 * and the session's id, in memory (/dev/shm) or below the system's folder for temporary files.
 */
export const diagnosticsPrefix = 'agentdump-';
/** Names the session (its id) that the parent has already opened for the process it starts. */
export const sessionVariable = 'AGENTDUMP_SESSION';

/**
 * Names the session of the supervisor's program, and a key of this life, as `<id>.<64 hexadecimal digits>`: what a process below it
 * withholds by value goes sealed under that key into the file of that session's folder (write/withheld-values.ts).
 */
export const withheldVariable = 'AGENTDUMP_WITHHELD_KEY';
export const withheldName = 'withheld';

/** `alive` means: was alive when it last wrote. */
export type SessionState = 'alive' | 'ended';

/** What only the machine can say of a process, while it lives. What can't be had is absent. */
export interface ProcessIdentity {
  pid: number;
  parentPid: number;
  /** Clock ticks from boot to the process's start (field 22 of /proc/<pid>/stat): with the pid it names a process. */
  startTicks?: string;
  bootId?: string;
  /** `pid:[4026531836]`: pids are comparable only within one namespace. */
  pidNamespace?: string;
  hostname: string;
}

export interface MemoryLimits {
  /** Folder of the memory controller's cgroup. */
  cgroup?: string;
  cgroupBytes?: number;
  /** Kills for want of memory in that cgroup, and on the whole machine, when the session began. */
  cgroupOomKillsAtStart?: number;
  hostOomKillsAtStart?: number;
}

export interface SessionFacts {
  schema: typeof sessionSchema;
  version: number;
  /** 16 lower-case hexadecimal digits; the name of the session's folder, and the id of the bundle of its death. */
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
  /** The journal is written at least so often while the process lives; 0 promises nothing. */
  heartbeatMs: number;
  /** Session of the process that started this one. */
  parentSession?: string;
  /** Who opened it for its child, and explains that one's end: `<boot id>:<pid>:<start ticks>`. */
  supervisor?: string;
  /** Only when ended. */
  endedAt?: string;
  exitCode?: number;
  /** Folder name of the bundle that the process wrote about its own end. */
  bundle?: string;
}

/** What a reader concludes from the facts and from the machine it runs on. */
export type SessionFate =
  /** The same process runs now. */
  | 'alive'
  /** It said goodbye. */
  | 'ended'
  /** It runs no more and said nothing. */
  | 'died'
  /** Another machine or pid namespace, and nothing proves its death. */
  | 'elsewhere';

export interface SessionFinding {
  fate: SessionFate;
  /** One sentence with the figures: why. */
  because: string;
  /** For `died`: the machine was started anew since. */
  rebooted?: boolean;
  /** For `died`: its pid is another process now. */
  pidReused?: boolean;
}
