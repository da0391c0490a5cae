/** What the main thread and its watchdog share: cells of memory, messages, and the calls into a thread that stalls. */

import type { LocalsPart, StallFacts, WorkerStacksPart } from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import type { ScriptParsed } from '../host/inspector-session.ts';
import type { Config } from '../install/config.ts';

/** Indices of the shared Int32Array. */
export const cells = {
  /** How often the main thread has answered. */
  answers: 0,
  /** Above 0 while the main thread writes a bundle, and is silent because of us. */
  excused: 1,
  /** How many of the microtasks that were queued during a stall have run. */
  microtasks: 2,
  /** 1 while a debugger session of the watchdog may be connected, or while it writes a bundle itself. */
  attached: 3,
  /** Bit n: the host listens for the n-th of our signals. */
  hostListens: 4,
  /** How often the watchdog has released signals on request. */
  released: 5,
  /** 1 once the process has begun to end: no debugger session may be opened, and an open one is cut. */
  closing: 6,
  /** The system's id of the watchdog's thread; 0 until it runs. */
  threadId: 7,
  /** V8's old generation in use when the main thread last looked, in KiB. */
  heapKib: 8,
  /** Resident memory at that time, in KiB. */
  rssKib: 9,
  /** 1-based index of the signal that arrived while the host did not listen, and kills; 0 if none. */
  due: 10,
  /** 1 once the program dies of something other than a signal: a signal that arrives now came after that. */
  dies: 11,
  /** 1 once the bundle of the due signal is being written. */
  claimed: 12,
  /** 1 once the watchdog holds our signals. */
  held: 13,
  /** How often the host has started or stopped listening for one of our signals. */
  hostChanges: 14,
  /** How many worker threads the program had when the main thread last answered. */
  workers: 15,
  /** How many bundles the main thread has begun to write. */
  writes: 16,
  /** The last cells, two for each of our signals. */
  delivered: 17,
} as const;

/** How often the signal at this index was delivered to the program since the thread started, by Node or by an emit of the program. */
export const deliveredCell = (at: number): number => cells.delivered + 2 * at;
/** How often that was certainly Node. */
export const deliveredByNodeCell = (at: number): number => cells.delivered + 2 * at + 1;

/** The cells for this number of signals. */
export const makeCells = (signals: number): Int32Array =>
  new Int32Array(new SharedArrayBuffer(4 * deliveredCell(signals)));

/** True on the global object of the watchdog's thread, so that it is left out of the program's workers. */
export const ownThreadFlag = Symbol.for('agentdump.watchdog');

/** The worker threads that ran code when a signal came. */
export interface SeenWorkers {
  workers: WorkerStacksPart['workers'];
  /** The scripts of their own frames. Their ids have the worker's before them, since V8's are those of one thread. */
  scripts: (ScriptParsed & { text: string })[];
}

export type FromWatchdog =
  | { ask: true }
  /** Arrived while the host did not listen for it. `workers`: those that ran code then. */
  | { signal: NodeJS.Signals; workers?: SeenWorkers }
  /** See heard-signals.ts. `heard`: how often this thread has received it while the host listened. */
  | { doubtful: NodeJS.Signals; heard: number }
  /** Of a stall that ended while it was looked at. */
  | { report: StallReport }
  /** Sent to the loop after a stall, when it turns again. */
  | { recovered: { silentMs: number; bundle?: string; where: StallFacts['where'] } };

export type ToWatchdog =
  /** Undefined: all of them, permanently. */
  | { release: NodeJS.Signals | undefined }
  /** A value that must not be in any part. */
  | { withhold: string }
  /** Folder of the journal, once there is one. */
  | { journal: string };

/** Passed to the watchdog at its start. */
export interface WatchdogData {
  agentdump: 'watchdog';
  shared: Int32Array;
  hangMs: number;
  /** Node's inspector was open at the start: the program is being debugged, and its stalls are those of the debugger. */
  isInspected: boolean;
  signals: readonly NodeJS.Signals[];
  snapshotSignal: NodeJS.Signals | undefined;
  config: Config;
  /** Limit of V8's old generation, in bytes. */
  heapLimitBytes: number;
  /** The preload's own file, from which the rest is loaded if the main thread can't be interrupted. */
  ownFile: string;
  withheld: readonly string[];
  lock: Lock | undefined;
  /** From the program's process object. */
  program: { argv: string[]; execArgv: string[]; title: string; cwd: string };
}

/** The bundle that the watchdog has the stalled main thread write. */
export interface StallReport {
  stall: StallFacts;
  frames: LocalsPart['frames'];
  /** The signal that arrived during the stall. */
  signal?: NodeJS.Signals;
}

/** What the main thread reports without being stopped, with no debugger enabled. */
export interface StallProbe {
  /** In V8's format, without our own frames. */
  stackText: string;
  /** In use in the old generation. */
  heapBytes: number;
  callback?: string;
}

/** The main thread's side, as an expression for a debugger session. */
export const hookExpression = `globalThis[Symbol.for('agentdump.host')].watchdog`;
/** A property of the preload's own object (agent/api/context.ts). */
export interface StallHook {
  probe(): StallProbe;
  /** Path of the bundle; undefined if none was written. */
  report(report: StallReport): string | undefined;
  /** Whether the one snapshot of memory near its limit is due. */
  lookAtMemory(): boolean;
  /** Without frames it uses its own stack. */
  takeSnapshot(frames?: LocalsPart['frames']): void;
}
