/**
 * Waits for the first sign of an agent: a network request, a framework's first lookup of a global name, or a call of the
 * explicit API. Then the recording half is compiled, receives the message that triggered this, and takes over. Until then
 * there are only some subscriptions and non-enumerable global names.
 */
import type { Host } from '../../agent/api/context.ts';
import { firstChannels, watchGlobalNames } from '../../agent/first-signs.ts';
import { guarded } from '../../agent/taps/guard.ts';
import { ours } from '../../agent/taps/own-work.ts';
import type { CaptureRequest } from '../fatal-path/request.ts';
import { isMainThread, type Surroundings } from '../fatal-path/surroundings.ts';
import { loadRecordingHalf } from '../install/half-loader.ts';
import type { Outlet, Recording } from '../install/recording-half.ts';
import { writeStderrLine } from '../install/stderr-line.ts';
import { openFlight, requireRecordingPolicy, startsOthersOnly } from './flight-start.ts';

/** Of what a launcher starts; more only if it starts whole workspaces. */
const mostLaunched = 20;
const { now } = Date;

/** `capture` is called if the agent makes no progress. Returns a function that stops it. */
export function watchForAgent(
  surroundings: Surroundings,
  host: Host,
  capture: (request: CaptureRequest) => void,
): () => void {
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel');
  let stopWatching = (): void => {};
  const stopWaiting = (): void => {
    stopWatching();
    for (let at = 0; at < firstChannels.length; at++) unsubscribe(firstChannels[at] as string, onSign);
  };
  const begin = (): Recording | undefined => {
    stopWaiting();
    try {
      surroundings.recording ??= startRecording(surroundings, capture);
    } catch (error) {
      complain(error);
    }
    return surroundings.recording;
  };
  // What a subscriber throws Node would raise as an uncaught exception of the program.
  const onSign = guarded(hearSign);
  function hearSign(message: unknown, channel: string | symbol): void {
    // Not a sign of an agent: the redactor and the journal were most of our cost for `npm run`.
    if (channel === 'child_process' && startsOthersOnly(surroundings)) {
      surroundings.launched ??= [];
      const { launched } = surroundings;
      if (launched.length < mostLaunched) launched[launched.length] = { message, startedAt: now() };
      return;
    }
    const hadFlight = surroundings.flight !== undefined;
    const recording = begin();
    recording?.hear(String(channel), message);
    if (hadFlight || channel !== 'child_process') return;
    recording?.open();
    surroundings.flight?.children.hear(message);
  }
  if (surroundings.config.captureLlm !== 'off') {
    for (const channel of firstChannels) subscribe(channel, onSign);
    stopWatching = watchGlobalNames(begin);
  }
  const get = (): Host['agent'] => surroundings.recording?.port ?? ours(begin)?.port;
  Object.defineProperty(host, 'agent', { configurable: true, get });
  return () => {
    stopWaiting();
    surroundings.recording?.uninstall();
  };
}

function startRecording(surroundings: Surroundings, capture: (request: CaptureRequest) => void): Recording {
  const { threadId } = isMainThread ? { threadId: 0 } : process.getBuiltinModule('node:worker_threads');
  const { captureLlm, captureHttp, progressMs } = surroundings.config;
  return loadRecordingHalf().startRecording({
    open: () => openOutlet(surroundings),
    captureLlm,
    captureHttp,
    threadId,
    origins: surroundings.origins,
    progressMs,
    onStall: (stall) => capture({ kind: 'no-progress', handledByHost: false, details: { silence: stall } }),
  });
}

function openOutlet(surroundings: Surroundings): Outlet | undefined {
  try {
    const { policy } = requireRecordingPolicy(surroundings);
    return { policy, flight: openFlight(surroundings)?.recorder };
  } catch (error) {
    complain(error);
    return undefined;
  }
}

function complain(error: unknown): void {
  writeStderrLine(`the agent is not recorded: ${error instanceof Error ? error.message : String(error)}`);
}
