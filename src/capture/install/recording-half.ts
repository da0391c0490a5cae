/**
 * The half of the preload that records while the program runs: taps, integrations and the implementation of the explicit API
 * for what an agent does, and the flight recorder, whose data survives a kill. Embedded as text like the cold half, and
 * compiled when an agent is first detected, or when the program has run for some seconds.
 */
import { type InstalledAgent, installAgent } from '../../agent/install.ts';
import { LateSink } from '../../agent/record/late-sink.ts';
import { ProgressWatch, type Stall } from '../../agent/record/progress-watch.ts';
import { EventSink, type RecordingPolicy } from '../../agent/record/sink.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import { noteExitOfChild } from '../../journal/write/observed-exit.ts';
import type { MemorySampler } from '../heap/memory-sampler.ts';
import { ChildWatch } from '../recording/child-watch.ts';
import { startEventRecorder } from '../recording/event-recorder.ts';
import { type FlightRecorder, type OnDisk, startFlightRecorder } from '../recording/flight-recorder.ts';
import type { LogTap } from '../recording/log-tap.ts';
import type { ProcessEvents } from '../recording/process-events.ts';
import { childIn, type Launched } from '../recording/process-events.ts';
import { currentOrigin } from '../recording/read-origin.ts';
import type { Origins, RequestWatch } from '../recording/request-watch.ts';
import type { Config } from './config.ts';

export { MemorySampler } from '../heap/memory-sampler.ts';
export type Recording = InstalledAgent;

type ArgvPolicy = RecordingPolicy & { argv(argv: readonly string[]): string[] };

export interface Flight {
  recorder: FlightRecorder;
  children: ChildWatch;
  noteRequests(): void;
  stop(): void;
}

export interface FlightStart {
  policy: ArgvPolicy;
  /** The dump folder, absolute. */
  dir: string;
  /** Redacted, as everywhere. */
  program: string;
  cwd: string;
  processEvents: ProcessEvents;
  logs: LogTap | undefined;
  /** Encrypts what is recorded. */
  lock: Lock | undefined;
  memory: MemorySampler;
  requests: RequestWatch | undefined;
  /** The id of the session that was opened at the start (`start-mark.ts`). */
  begun: string | undefined;
  /** What was started before. */
  launched: readonly Launched[] | undefined;
  /** Runs what writes to the real file system (`host/intrinsics/native-files.ts`). */
  onDisk: OnDisk;
}

/** Throws if the dump folder can't be written. */
export function startFlight(start: FlightStart): Flight {
  const {
    policy,
    dir,
    program,
    cwd,
    processEvents,
    logs,
    lock,
    memory,
    requests,
    begun,
    launched = [],
    onDisk,
  } = start;
  const argv = policy.argv(process.argv);
  const execArgv = policy.argv(process.execArgv);
  const recorder = startFlightRecorder({ dir, program, cwd, argv, execArgv, lock, memory, begun, onDisk });
  const children = new ChildWatch(
    processEvents,
    (words) => policy.argv(words),
    (child, startedAtMs) => noteHarmlessly(() => onDisk(() => noteExitOfChild(dir, child, startedAtMs))),
  );
  for (const { message, startedAt } of launched) {
    const child = childIn(message);
    if (child) children.follow(child, startedAt);
  }
  const events = startEventRecorder({
    flight: recorder,
    policy,
    processEvents,
    logs,
    children,
    requests,
  });
  return {
    recorder,
    children,
    noteRequests: () => events.noteRequests(),
    stop() {
      events.stop();
      children.stop();
    },
  };
}

/** For a launcher that has no flight recorder. */
export function noteLaunched(dir: string, launched: readonly Launched[]): void {
  for (const { message, startedAt } of launched) {
    const child = childIn(message);
    if (child) noteHarmlessly(() => noteExitOfChild(dir, child, startedAt));
  }
}

/** Without the note a sweep tells of a death that nobody saw. */
function noteHarmlessly(note: () => void): void {
  try {
    note();
  } catch {
    // The folder can't be written to.
  }
}

/** Receives the agent's events. */
export interface Outlet {
  policy: RecordingPolicy;
  /** Without it the agent is recorded in memory, for deaths at which we can still write. */
  flight: FlightRecorder | undefined;
}

export interface RecordingOptions {
  /** Called once, when there is something to write; undefined if nothing can be recorded. */
  open(): Outlet | undefined;
  captureLlm: Config['captureLlm'];
  captureHttp: Config['captureHttp'];
  threadId: number;
  /** Whose work it is, where this thread's server is followed. */
  origins: Origins | undefined;
  /** As with agent.expectProgress, from the first detection of an agent on, while there is work; 0 disables the check. */
  progressMs: number;
  onStall: (stall: Stall) => void;
}

export function startRecording(options: RecordingOptions): Recording {
  const { captureLlm, captureHttp, threadId, origins } = options;
  const progress = new ProgressWatch(options.onStall);
  const sink = new LateSink(() => {
    const outlet = options.open();
    return outlet && openSink(outlet, progress);
  });
  progress.expect(options.progressMs, {}, true);
  const readOrigin = origins && (() => currentOrigin(origins));
  return installAgent({ sink, captureLlm, captureHttp, threadId, readOrigin, progress });
}

function openSink({ policy, flight }: Outlet, progress: ProgressWatch): EventSink {
  const sink = new EventSink({
    policy,
    ...(flight && { journal: flight }),
    onEvent: (kind, facts, content) => progress.see(kind, facts, content),
  });
  flight?.carryOver(() => sink.carryOver());
  return sink;
}
