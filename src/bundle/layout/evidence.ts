/**
 * `evidence.json`: what somebody else saw of a death, because the process could not write a word: its parent, or
 * whoever came to the folder next. Facts and figures only; the conclusion is analysis's. What is not known is absent.
 */
export interface EvidencePart {
  /** The parent that waited for it, the next program that started in this folder, or `agentdump sweep`. */
  foundBy: 'supervisor' | 'next-start' | 'sweep';
  foundAt: string;
  /** When it ended, as far as its parent saw: what had looked at its core since then took its time. */
  endedAt?: string;
  /** How it is known that the process is gone. */
  fate: { because: string; rebooted?: boolean; pidReused?: boolean };
  process: {
    pid: number;
    parentPid: number;
    startedAt: string;
    /** When it last wrote to its journal or session file: it was alive then. */
    lastSeenAt?: string;
    heartbeatMs: number;
  };
  /**
   * Known to a parent only. `inferred`: from a shell's exit code of 128 and the signal's number. `byParent`: the parent
   * itself had sent a signal.
   */
  exit?: { code?: number; signal?: string; inferred?: boolean; byParent?: boolean };
  /** The collections that V8 lists on stderr when it gives a full heap up, oldest first, as the parent read them. */
  lastGcs?: string[];
  /** Signals that the supervisor sent or passed on to it, in order. */
  signalsSent?: SentSignal[];
  boot?: { atStart: string; now: string };
  memory?: MemoryEvidence;
  /** Lines of the kernel's log that name the process, oldest first. */
  kernelLog?: string[];
  /** From Node's own report of a fatal error, which is the part `report.json`. */
  fatal?: { event: string; trigger: string };
  core?: CoreEvidence;
  journal?: JournalEvidence;
  /** Folder name of a bundle that the process had begun to write about itself, and did not finish. */
  unfinishedBundle?: string;
}

export interface SentSignal {
  name: string;
  at: string;
  /** `passed-on`: somebody sent it to the supervisor; `supervisor`: its own decision. */
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
  /** Kills for want of memory on the whole machine. */
  hostOomKills?: CounterEvidence;
  system: { totalBytes: number; availableBytes: number };
  /** The journal's samples, oldest first; of a long life the newest are all there and the older ones thinned out. */
  history: MemoryPoint[];
}

/** A counter of the kernel when the process began and when its death was found. */
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
  /** Where it is now; absent when none was found, or when it was removed because it holds memory in the clear. */
  path?: string;
  bytes?: number;
  /** Why there is none, or why it is gone. */
  reason?: string;
  /** What ruled it out before the program died. */
  obstacle?: CoreObstacle;
}

/** `off`: it was not wanted. `in-the-way`: it would have replaced another file. */
export type CoreObstacle = (typeof coreObstacles)[number];
export const coreObstacles = ['off', 'hard-limit', 'collector', 'no-prlimit', 'in-the-way'] as const;

export interface JournalEvidence {
  records: number;
  firstAt?: string;
  lastAt?: string;
  /** The last write was cut by the death. */
  torn: boolean;
  /** The journal's own goodbye, when it has one. */
  end?: { endedWell: boolean; exitCode?: number; signal?: string };
  /** Names of kinds and how many records each has. */
  kinds: Record<string, number>;
}
