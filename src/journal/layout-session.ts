/**
 * The session file: the sentinel beside a journal, from which somebody who comes later tells whether its process is
 * alive, ended by itself, or died. One folder a session: `<dir>/sessions/<id>/`. Types and names only.
 */
export const sessionsFolder = 'sessions';
export const sessionName = 'session.json';
export const sessionSchema = 'agentdump.session';
export const sessionVersion = 1;
/** Folder that a finisher makes in the session's folder: whoever made it finishes, all others leave it alone. */
export const finisherLockName = 'finishing';
/** Node's own fatal report and other clear text go here; the finisher scrubs and removes it. */
export const diagnosticFolder = 'diagnostics';

/** `alive` means: was alive when it last wrote. */
export type SessionState = 'alive' | 'ended';

export interface SessionFacts {
  schema: typeof sessionSchema;
  version: number;
  /** Also the name of the session's folder. */
  id: string;
  state: SessionState;
  pid: number;
  parentPid: number;
  /** Clock ticks from boot to the process's start (field 22 of /proc/<pid>/stat): with the pid it names a process. */
  startTicks?: string;
  bootId?: string;
  /** `pid:[4026531836]`: pids are comparable only within one namespace. */
  pidNamespace?: string;
  hostname: string;
  /** Path of the memory controller's cgroup as /proc/self/cgroup says it. */
  cgroup?: string;
  /** Counters of kills by the kernel in that cgroup when the session began. */
  oomKillsAtStart?: number;
  program: string;
  /** Redacted. */
  command: string[];
  cwd: string;
  nodeVersion: string;
  startedAt: string;
  /** Sizes in bytes. */
  limits: { heapBytes?: number; cgroupBytes?: number; coreBytes?: number };
  /** The journal is written at least so often while the process lives; 0 promises nothing. */
  heartbeatMs: number;
  /** Folder where the finished bundle belongs. */
  bundleDir: string;
  /** Session of the supervisor, or of the process that started this one. */
  parentSession?: string;
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
