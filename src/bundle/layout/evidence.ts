/**
 * `evidence.json`: what others observed of a death after which the process could not write anything: its parent, or the
 * next process that looked at the folder. Facts and figures only; conclusions are up to the analysis. What is not known is
 * absent.
 */
export interface EvidencePart {
  /** Its parent, which waited for it; the next program that started in this folder; or `agentdump sweep`. */
  foundBy: 'supervisor' | 'next-start' | 'sweep';
  foundAt: string;
  /** When it ended, as observed by its parent, before the time spent on reading its core. */
  endedAt?: string;
  /** How it is known that the process is gone. */
  fate: { because: string; rebooted?: boolean; pidReused?: boolean };
  process: {
    pid: number;
    parentPid: number;
    startedAt: string;
    /** The time of its last write to its journal or session file, when it was still alive. */
    lastSeenAt?: string;
    heartbeatMs: number;
  };
  /**
   * Known only to a parent. `inferred`: from a shell's exit code of 128 plus the signal number. `byParent`: the parent
   * itself had sent a signal.
   */
  exit?: { code?: number; signal?: string; inferred?: boolean; byParent?: boolean };
  /** The garbage collections that V8 lists on stderr when it runs out of memory, oldest first, as read by the parent. */
  lastGcs?: string[];
  /** Signals that the supervisor sent or forwarded to it, in order. */
  signalsSent?: SentSignal[];
  boot?: { atStart: string; now: string };
  memory?: MemoryEvidence;
  /** Lines of the kernel log that name the process, oldest first. */
  kernelLog?: string[];
  /** From Node's own report of a fatal error, which is stored as `report.json`. */
  fatal?: { event: string; trigger: string };
  core?: CoreEvidence;
  journal?: JournalEvidence;
  /** Name of the folder of a bundle that the process had begun to write about itself, and did not finish. */
  unfinishedBundle?: string;
}

export interface SentSignal {
  name: string;
  at: string;
  /** `passed-on`: somebody sent it to the supervisor. `supervisor`: its own decision. */
  by: 'passed-on' | 'supervisor';
  reason?: string;
}

/** Sizes in bytes. */
export interface MemoryEvidence {
  heapLimitBytes?: number;
  cgroup?: {
    path: string;
    maxBytes?: number;
    peakBytes?: number;
    currentBytes?: number;
    oomKills?: CounterEvidence;
  };
  /** Processes killed by the out-of-memory killer on the whole machine. */
  hostOomKills?: CounterEvidence;
  system: { totalBytes: number; availableBytes: number };
  /**
   * The memory samples of the journal, oldest first. For a long life, the newest are complete and the older ones thinned
   * out.
   */
  history: MemoryPoint[];
}

/** A kernel counter at the start of the process, and when its death was found. */
export interface CounterEvidence {
  before: number;
  after: number;
}

export interface MemoryPoint {
  at: string;
  rss?: number;
  heapUsed?: number;
  heapLimit?: number;
  external?: number;
  arrayBuffers?: number;
  cgroupCurrent?: number;
  cgroupMax?: number;
  loopDelayMs?: number;
}

export interface CoreEvidence {
  /** `core_pattern` of the machine. */
  pattern: string;
  /** Where the core is now; absent if none was found, or if it was removed because it contains unredacted memory. */
  path?: string;
  bytes?: number;
  /** Why there is no core, or why it was removed. */
  reason?: string;
  /** What made a core impossible, known before the program died. */
  obstacle?: CoreObstacle;
}

/** `off`: not wanted. `in-the-way`: it would have replaced another file. */
export type CoreObstacle = (typeof coreObstacles)[number];
export const coreObstacles = ['off', 'hard-limit', 'collector', 'no-prlimit', 'in-the-way'] as const;

export interface JournalEvidence {
  records: number;
  firstAt?: string;
  lastAt?: string;
  /** The last write was cut off by the death. */
  torn: boolean;
  /** The journal's own end record, if it has one. */
  end?: { endedWell: boolean; exitCode?: number; signal?: string };
  /** The signals that the recorder held, so that each leaves a bundle in time; absent if the journal says nothing about them. */
  heldSignals?: string[];
  /** The number of records of each kind. */
  kinds: Record<string, number>;
}
