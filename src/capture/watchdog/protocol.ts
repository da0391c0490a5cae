/** What the main thread and its watchdog share: cells of memory, messages, and what is asked of a thread that stalls. */

import type { LocalsPart, StallFacts } from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import type { Config } from '../install/config.ts';

/** Indices of the shared Int32Array. */
export const cells = {
  /** How often the main thread has answered. */
  answers: 0,
  /** Above 0 while the main thread writes a bundle, and is silent for our sake. */
  excused: 1,
  /** Microtasks that ran of those that were asked for in a stall. */
  microtasks: 2,
  /** 1 while a debugger session of the watchdog may be connected, or while it writes a bundle itself. */
  attached: 3,
  /** Bit n: the host listens for the n-th of our signals. */
  hostListens: 4,
  /** How often the watchdog has let go of signals when it was asked to. */
  released: 5,
  /** 1 once the process has begun to end: no debugger session may be opened, and one that is open is cut. */
  closing: 6,
  /** The system's number of the watchdog's thread; 0 until it runs. */
  threadId: 7,
  /** How full V8's old generation was when the main thread last looked, in KiB. */
  heapKib: 8,
  /** Resident memory then, in KiB. */
  rssKib: 9,
  /** Place, from 1, of that of our signals which came while the host did not listen, and kills; 0: none. */
  due: 10,
  /** 1 once the program dies of something else than a signal: one that comes now comes after that. */
  dies: 11,
  /** 1 once somebody writes the bundle of the signal that is due: it has one. */
  claimed: 12,
  count: 13,
} as const;

/** True in the global object of the watchdog's thread: who looks at the workers of a program leaves that one out. */
export const ownThreadFlag = Symbol.for('agentdump.watchdog');

export type FromWatchdog =
  | { ask: true }
  /** It came while the host did not listen for it. */
  | { signal: NodeJS.Signals }
  /** Of a stall that ended while it was looked at. */
  | { report: StallReport }
  /** Asked of the loop after a stall: it turns again. */
  | { recovered: { silentMs: number; bundle?: string; where: StallFacts['where'] } };

export type ToWatchdog =
  /** Undefined: all of them, for good. */
  | { release: NodeJS.Signals | undefined }
  /** A value that must be seen in no part. */
  | { withhold: string }
  /** Folder of the journal, once there is one. */
  | { journal: string };

/** Given to the watchdog at its start. */
export interface WatchdogData {
  agentdump: 'watchdog';
  shared: Int32Array;
  hangMs: number;
  /** Node's inspector was open at the start: somebody debugs the program, and a stall of it is his. */
  isInspected: boolean;
  signals: readonly NodeJS.Signals[];
  snapshotSignal: NodeJS.Signals | undefined;
  config: Config;
  /** Limit of V8's old generation, in bytes. */
  heapLimitBytes: number;
  /** The preload's own file, from which the rest is loaded if the main thread lets nobody in. */
  ownFile: string;
  withheld: readonly string[];
  lock: Lock | undefined;
  /** As the program's process object says them. */
  program: { argv: string[]; execArgv: string[]; title: string; cwd: string };
}

/** What the watchdog has the stalled main thread write. */
export interface StallReport {
  stall: StallFacts;
  frames: LocalsPart['frames'];
  /** The signal that met the stall. */
  signal?: NodeJS.Signals;
}

/** What the main thread tells in passing, with no debugger enabled. */
export interface StallProbe {
  /** In V8's form, without our own frames. */
  stackText: string;
  /** In use of the old generation. */
  heapBytes: number;
  callback?: string;
}

/** The main thread's side, as an expression for a debugger session. */
export const hookExpression = `globalThis[Symbol.for('agentdump.host')].watchdog`;
/** On the preload's own object (agent/api/context.ts). */
export interface StallHook {
  probe(): StallProbe;
  /** Path of the bundle; undefined when none was written. */
  report(report: StallReport): string | undefined;
  /** Whether the one snapshot of memory near its limit is due. */
  lookAtMemory(): boolean;
  /** Without frames its own stack is taken. */
  takeSnapshot(frames?: LocalsPart['frames']): void;
}
