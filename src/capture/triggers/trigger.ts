/** A trigger watches for one way in which a program ends and requests a bundle. */
import type { CaptureRequest } from '../fatal-path/request.ts';
import type { Config } from '../install/config.ts';
import type { EventTap } from './event-tap.ts';
import type { KnownWorkers } from './known-workers.ts';
import type { DeathSignals } from './signal-watch.ts';

export interface TriggerContext {
  config: Config;
  events: EventTap;
  /** Maintained by the workers trigger: those that have not ended. */
  workers: KnownWorkers;
  isMainThread: boolean;
  /** Writes a bundle unless one is being written. Undefined if none was written. Never throws. */
  capture(request: CaptureRequest): string | undefined;
  /**
   * Whether a death (not a snapshot) was captured in this thread a moment ago, so that the end that follows is not a second
   * one.
   */
  hasJustCaptured(): boolean;
  /** The failing exit code of a test runner only reports failed tests, and is no death. */
  expectsExit(): boolean;
  /** A test has begun in this process and not ended: whatever its code, an exit cuts it off. */
  isInTest(): boolean;
  /** Whether a deliberate end with this code gets a bundle (AGENTDUMP_EXITS). */
  isEndOfWork(exitCode: number): boolean;
  /** Sets which signals the watchdog is to hold. */
  offerSignals(deathSignals: DeathSignals): void;
  /** Does not return if a signal has arrived that would have killed the program without us. */
  dieIfDue(): void;
  /** Calls `react` when the thread ends by itself, and everything was captured. For one trigger at most. */
  whenEnded(react: () => void): void;
  ended(exitCode: number): void;
  /**
   * The exit code: as the listeners of `exit` left it if it was 0 before them, otherwise as it was before them. May be called
   * twice.
   */
  exited(exitCode: number): void;
}

/** Installs itself. Returns its own undo function if uninstalling the tap is not enough. */
export type Trigger = (context: TriggerContext) => (() => void) | undefined;
