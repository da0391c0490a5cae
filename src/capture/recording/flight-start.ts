/**
 * Opens the flight recorder of the main thread once: at the first sign of an agent, or some seconds after the start, so that
 * a program without an agent leaves traces too when it is killed, and a short command pays for nothing. The timer does not
 * keep the process alive, and is not listed among the active resources.
 */

import { startOwnTimer } from '../../agent/taps/own-timer.ts';
import { launcherScript } from '../../bundle/layout/tests.ts';
import { journalBeginsAfterMs } from '../../journal/layout/session.ts';
import { isMainThread, type RecordingState, type Surroundings } from '../fatal-path/surroundings.ts';
import { onDisk } from '../host/intrinsics/native-files.ts';
import { withOwnWorld } from '../host/intrinsics/own-realm.ts';
import { workingFolder } from '../host/working-folder.ts';
import {
  loadRecordingHalf,
  loadRedactionHalf,
  programNameLate,
  publicNameLate,
} from '../install/half-loader.ts';
import type { Flight } from '../install/recording-half.ts';
import { writeStderrLine } from '../install/stderr-line.ts';
import { childIn, endsUntold } from './process-events.ts';
import { removeStartMark } from './start-mark.ts';

/** Returns a function that stops it. */
export function startFlightLate(surroundings: Surroundings): () => void {
  if (!isMainThread) return () => {};
  const timer = startOwnTimer(() => {
    if (!startsOthersOnly(surroundings)) openFlight(surroundings, () => {});
  }, journalBeginsAfterMs);
  return () => {
    timer.stop();
    surroundings.flight?.stop();
  };
}

/** What npm and its like record would be of no use to anybody, and they may run the watcher that it would wake (`node --watch-path`). */
export function startsOthersOnly({ tests }: Surroundings): boolean {
  return tests?.startsOthersOnly ?? launcherScript.test(process.argv[1] ?? '');
}

/** Undefined in a worker, and if it can't be opened, which is reported to `complain` once. */
export function openFlight(
  surroundings: Surroundings,
  complain: (text: string) => void = writeStderrLine,
): Flight | undefined {
  if (!isMainThread || surroundings.flightFailed) return undefined;
  return surroundings.flight ?? withOwnWorld(() => open(surroundings, complain));
}

function open(surroundings: Surroundings, complain: (text: string) => void): Flight | undefined {
  try {
    const { policy } = requireRecordingPolicy(surroundings);
    const { config, processEvents, logs, lock } = surroundings;
    if (config.recipient !== undefined && !lock) throw new Error('the recipient could not be read');
    const { startFlight, MemorySampler } = loadRecordingHalf();
    surroundings.memory ??= new MemorySampler();
    const { memory } = surroundings;
    const requests = surroundings.origins?.requests;
    surroundings.flight = startFlight({
      policy,
      dir: config.dir,
      program: programNameLate(),
      cwd: publicNameLate(workingFolder()),
      processEvents,
      logs,
      lock,
      memory,
      requests,
      begun: surroundings.startMark?.id,
      launched: surroundings.launched,
      onDisk,
    });
    delete surroundings.launched;
    // Unless the flight has adopted the session of a supervisor.
    if (surroundings.flight.recorder.sessionId === surroundings.startMark?.id) delete surroundings.startMark;
    else onDisk(() => removeStartMark(surroundings));
  } catch (error) {
    surroundings.flightFailed = true;
    complain(`no flight recorder: ${error instanceof Error ? error.message : String(error)}`);
  }
  return surroundings.flight;
}

/** This process ends: notes of the processes that it started what only their parent can know of their ends. */
export function noteEndsOfChildren({ flight, launched = [], config }: Surroundings): void {
  flight?.children.lookLast();
  if (launched.some(({ message }) => endsUntold(childIn(message))))
    loadRecordingHalf().noteLaunched(config.dir, launched);
}

/** Created on first use, for everything that is recorded while the program runs. */
export function requireRecordingPolicy(surroundings: Surroundings): RecordingState {
  surroundings.recordingPolicy ??= {
    policy: loadRedactionHalf().createRecordingPolicy(surroundings),
    knewFromStart: surroundings.withheld.length,
    proofs: 0,
  };
  return surroundings.recordingPolicy;
}
