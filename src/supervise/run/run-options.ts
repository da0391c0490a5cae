import type { HealthLimits } from '../health/limits.ts';
import type { CoreDigest } from '../native/core-part.ts';
import type { FullHeapOptions } from '../native/full-heap.ts';
import type { RestartLimits } from './restart-policy.ts';

/** `digest`: the kernel writes a core, which is removed when its mini core is in the bundle. `keep`: the core stays. */
export type CoreWish = 'off' | 'digest' | 'keep';

export interface RunOptions {
  command: readonly string[];
  /** The dump folder, absolute. */
  dir: string;
  restart: RestartLimits;
  health: HealthLimits;
  /** Have the kernel write a core file at a native crash. It contains the memory unencrypted. */
  core: CoreWish;
  /** Make uncaught exceptions abort, so that the core contains the variables of all frames. */
  localsFromCore: boolean;
  /** If the kernel will not write a core, make a faulting program wait until its memory has been read. */
  hold?: boolean;
  /** Record more in the run after a crash. */
  escalate: boolean;
  /** After a death from lack of memory, tell the next run to start with fresh state. If `folder` is set, it is moved away. */
  freshState?: { folder?: string };
  /** Later lives continue the durable runs of earlier ones. */
  resume?: boolean;
  /** Shell command that is run when a crash loop is given up. */
  onCrashLoop?: string;
  /** Written when the program is healthy, and removed when it is not. */
  readyFile?: string;
  /** Report the program's health to others (a service manager, a readiness file). */
  announce: boolean;
  /** Send messages to NOTIFY_SOCKET. */
  notifies: boolean;
  /** Reduces a core to what its analysis needs. */
  digestCore?: CoreDigest;
  /** Reads the heap of a process that died from lack of memory. Without it, no heap is read. */
  readHeapApart?: FullHeapOptions['readApart'];
  /** The signature of the death in a bundle; undefined if it has none. */
  signatureOf?: (bundle: string) => Promise<string | undefined>;
  /** Count the starts in the dump folder, for a store. */
  countsStarts?: boolean;
  /** Called once, when the program has run for three seconds. */
  onRunning?: () => void | Promise<void>;
  /** Called after each death that left a bundle. */
  onBundle?: () => void | Promise<void>;
  /** Prints a line for the user at the terminal. */
  note(text: string): void;
}
