import type { HealthLimits } from '../health/limits.ts';
import type { CoreDigest } from '../native/core-part.ts';
import type { FullHeapOptions } from '../native/full-heap.ts';
import type { RestartLimits } from './restart-policy.ts';

/** `digest`: the kernel leaves a core, which goes when its mini core is in the bundle; `keep`: it stays. */
export type CoreWish = 'off' | 'digest' | 'keep';

export interface RunOptions {
  command: readonly string[];
  /** The dump folder, absolute. */
  dir: string;
  restart: RestartLimits;
  health: HealthLimits;
  /** Have the kernel leave a core file at a native death. It holds the memory in the clear. */
  core: CoreWish;
  /** Uncaught throws abort, so that the core has the variables of every frame. */
  localsFromCore: boolean;
  /** Where the kernel will leave no core, have a faulting program stand still until its memory is read. */
  hold?: boolean;
  /** Look closer at the run after a crash. */
  escalate: boolean;
  /** After a death for want of memory, tell the next run to begin afresh; with a folder, that is put aside. */
  freshState?: { folder?: string };
  /** Later lives go on with the durable runs of the ones before. */
  resume?: boolean;
  /** Command line for a shell, run when a crash loop is given up. */
  onCrashLoop?: string;
  /** Written when the program is well, and removed when it is not. */
  readyFile?: string;
  /** Tell whoever listens (a service manager, a readiness file) that the program is well. */
  announce: boolean;
  /** Send messages to NOTIFY_SOCKET. */
  notifies: boolean;
  /** Cuts a core down to what its analysis needs. */
  digestCore?: CoreDigest;
  /** Reads the heap of a death for want of memory; without it there is none. */
  readHeapApart?: FullHeapOptions['readApart'];
  /** The signature of a bundle's death; undefined where it has none. */
  signatureOf?: (bundle: string) => Promise<string | undefined>;
  /** Told after each death that left a bundle. */
  onBundle?: () => void | Promise<void>;
  /** A line for the person at the terminal. */
  note(text: string): void;
}
