/** What this thread's preload knows before any event. */
import type { TestPort } from '../../agent/api/test-port.ts';
import type { HeapProfilePart } from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import type { Policy } from '../../redaction/policy.ts';
import type { MemorySampler } from '../heap/memory-sampler.ts';
import type { Config } from '../install/config.ts';
import type { Flight, Recording } from '../install/recording-half.ts';
import type { ListenSites } from '../recording/listen-sites.ts';
import type { LogTap } from '../recording/log-tap.ts';
import type { Launched, ProcessEvents } from '../recording/process-events.ts';
import type { Origins } from '../recording/request-watch.ts';
import type { StartMark } from '../recording/start-mark.ts';
import type { KnownWorkers } from '../triggers/known-workers.ts';
import type { DeathSignals } from '../triggers/signal-watch.ts';
import type { Watch } from '../watchdog/start-watch.ts';

/** What is recorded while the program runs is redacted at once, with a separate policy. */
export interface RecordingState {
  policy: Policy;
  /** How many of the withheld values it knew from its first event on. */
  knewFromStart: number;
  /** How often the canary was sent through it. */
  proofs: number;
}

/** What this thread's preload knows at any time. */
export interface Surroundings {
  config: Config;
  /** The preload's own file, which is loaded but not part of the program. */
  ownFile: string;
  /** As they were at the start (file-compilers.ts). */
  compilers?: readonly unknown[];
  /** Worker threads that this thread started and that have not ended. */
  workers: KnownWorkers;
  /** Values registered by the host that must not be in any part. */
  withheld: string[];
  /** The recording of the agent; set when an agent is first detected. */
  recording?: Recording;
  recordingPolicy?: RecordingState;
  /** The recording of the tests that run here; set when tests are first detected. */
  tests?: TestPort;
  /** The session file of this process, until the flight recorder takes it over. */
  startMark?: StartMark;
  /** What a launcher (npm) has started, until there is a flight recorder. */
  launched?: Launched[];
  /** The flight recorder; only on the main thread. */
  flight?: Flight;
  /** It could not be opened, and is not tried again. */
  flightFailed?: boolean;
  processEvents: ProcessEvents;
  /** Absent if the async context of this thread is not available. */
  origins?: Origins;
  listens?: ListenSites;
  /** Undefined in a worker, and with AGENTDUMP_LOGS=off. */
  logs: LogTap | undefined;
  /** Created on first use. */
  memory?: MemorySampler;
  /** As of its last reading. */
  heapProfile?: HeapProfilePart;
  /** The signals that are watched; undefined in a worker. */
  deathSignals?: DeathSignals;
  /** The watchdog of the event loop; set once the program has run long enough. */
  watch?: Watch;
  /** Disables the debugger that reads variables at a throw, if one is enabled. */
  disarmLocals?: () => void;
  /** A bundle folder that was created early and is not written to yet (bundle/write/begin-early.ts). */
  begun?: string;
  /** The configured recipient as read at start; undefined if there is none, or it could not be read. */
  lock: Lock | undefined;
}

/**
 * Determined without loading node:worker_threads, which costs 2 MB: in a worker Node replaces functions that it does not
 * support there.
 */
export const isMainThread = (process.chdir as { disabled?: boolean }).disabled !== true;
