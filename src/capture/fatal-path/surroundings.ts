/** What this thread's preload knows before any event. */
import type { Worker } from 'node:worker_threads';
import type { TestPort } from '../../agent/api/test-port.ts';
import type { HeapProfilePart } from '../../bundle/layout/bundle.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import type { Policy } from '../../redaction/policy.ts';
import type { MemorySampler } from '../heap/memory-sampler.ts';
import type { Config } from '../install/config.ts';
import type { Flight, Recording } from '../install/recording-half.ts';
import type { Happenings } from '../recording/happenings.ts';
import type { LogTap } from '../recording/log-tap.ts';
import type { Origins } from '../recording/request-watch.ts';
import type { DeathSignals } from '../triggers/signal-watch.ts';
import type { Watch } from '../watchdog/start-watch.ts';

/** What is recorded while the program lives is redacted at once, by a policy of its own. */
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
  /** The preload's own file: it is loaded too, but no part of the program. */
  ownFile: string;
  /** Worker threads that this thread started and that have not ended. */
  workers: Set<Worker>;
  /** Values that the host registered, to be seen in no part. */
  withheld: string[];
  /** Of the agent, once there was a sign of one. */
  recording?: Recording;
  recordingPolicy?: RecordingState;
  /** Of the tests that run here, once there was a sign of them. */
  tests?: TestPort;
  /** The flight recorder, of the main thread only. */
  flight?: Flight;
  /** It could not be had, and is not tried again. */
  flightFailed?: boolean;
  happenings: Happenings;
  /** Absent where the thread's own contexts can't be had. */
  origins?: Origins;
  /** Undefined in a worker, and with AGENTDUMP_LOGS=off. */
  logs: LogTap | undefined;
  /** Made by who needs it first. */
  memory?: MemorySampler;
  /** As it was last read. */
  heapProfile?: HeapProfilePart;
  /** The signals that are watched; undefined in a worker. */
  deathSignals?: DeathSignals;
  /** Of the event loop, once the program has lived long enough. */
  watch?: Watch;
  /** Takes the debugger away that reads variables at a throw, where one is armed. */
  disarmLocals?: () => void;
  /** The folder of a bundle that nobody writes to yet (bundle/write/begin-early.ts). */
  begun?: string;
  /** What the configured recipient was read as at the start; undefined where there is none, or it could not be read. */
  lock: Lock | undefined;
}

/** Without loading node:worker_threads, which costs 2 MB: in a worker Node replaces what it cannot do there. */
export const isMainThread = (process.chdir as { disabled?: boolean }).disabled !== true;
