/** What a trigger is: it watches for one way to go and asks for a bundle. */
import type { Worker } from 'node:worker_threads';
import type { CaptureRequest } from '../fatal-path/request.ts';
import type { Config } from '../install/config.ts';
import type { EventTap } from './event-tap.ts';
import type { DeathSignals } from './signal-watch.ts';

export interface TriggerContext {
  config: Config;
  events: EventTap;
  /** Kept by the workers trigger: those that have not ended. */
  workers: Set<Worker>;
  isMainThread: boolean;
  /** Writes a bundle unless one is being written; never throws. Undefined when none was written. */
  capture(request: CaptureRequest): string | undefined;
  /** Whether a death (not a snapshot) was captured in this thread lately, so that its end is not a second death. */
  hasJustCaptured(): boolean;
  /** A test runner's failing exit code only counts what failed: no death. */
  expectsExit(): boolean;
  /** Whether a deliberate end with this code is worth a bundle (AGENTDUMP_EXITS). */
  isEndOfWork(exitCode: number): boolean;
  /** Says which signals the watchdog is to hold. */
  offerSignals(deathSignals: DeathSignals): void;
  /** Does not return where a signal has come of which the program would be dead without us. */
  dieIfDue(): void;
  /** The thread ends by itself, and all that was to be captured is. */
  ended(exitCode: number): void;
}

/** Installs itself; returns its own undoing where taking the tap away is not enough. */
export type Trigger = (context: TriggerContext) => (() => void) | undefined;
