/**
 * The half of the preload that records what an agent does: taps, integrations, the port of the explicit API, and the
 * flight recorder that outlives a kill. Carried as text like the cold half, and compiled at the first sign of an
 * agent: a program that talks to nobody pays nothing.
 */
import { type InstalledAgent, installAgent } from '../agent/install.ts';
import { ProgressWatch, type Stall } from '../agent/progress-watch.ts';
import { EventSink, type RecordingPolicy } from '../agent/sink.ts';
import type { Config } from './config.ts';
import { type FlightRecorder, startFlightRecorder } from './flight-recorder.ts';
import { writeStderrLine } from './stderr-line.ts';

export type Recording = InstalledAgent & { flight?: FlightRecorder };

export interface RecordingOptions {
  policy: RecordingPolicy & { argv(argv: readonly string[]): string[] };
  captureLlm: Config['captureLlm'];
  threadId: number;
  /** The dump folder, absolute. */
  dir: string;
  /** From the first sign of an agent on, as by agent.expectProgress, while there is work; 0 expects nothing. */
  progressMs: number;
  onStall: (stall: Stall) => void;
}

export function startRecording(options: RecordingOptions): Recording {
  const { policy, captureLlm, threadId } = options;
  const flight = threadId === 0 ? tryStartFlight(options, () => sink.carryOver()) : undefined;
  const progress = new ProgressWatch(options.onStall);
  const sink = new EventSink({
    policy,
    ...(flight && { journal: flight }),
    onEvent: (kind, facts, content) => progress.see(kind, facts, content),
  });
  progress.expect(options.progressMs, {}, true);
  return { ...installAgent({ sink, captureLlm, threadId, progress }), ...(flight && { flight }) };
}

/** Without it the agent is recorded in memory, for every death that lets us write. */
function tryStartFlight(
  { policy, dir }: RecordingOptions,
  carryOver: () => void,
): FlightRecorder | undefined {
  try {
    const argv = policy.argv(process.argv);
    return startFlightRecorder({ dir, argv, execArgv: policy.argv(process.execArgv), carryOver });
  } catch (error) {
    writeStderrLine(`no flight recorder: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
