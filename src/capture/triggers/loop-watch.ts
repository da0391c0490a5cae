/**
 * Decides when the watchdog starts. A short command never pays for a thread, but only that thread holds signals. So if
 * signals are to leave bundles, it starts once the program has reached its event loop and stays there, otherwise after a
 * second; and at once if it was enabled by name, so that a program that hangs from its first line is detected.
 */
import type { Host } from '../../agent/api/context.ts';
import { type OwnTimer, startOwnTimer } from '../../agent/taps/own-timer.ts';
import type { HeapProfilePart } from '../../bundle/layout/bundle.ts';
import { recordKinds } from '../../journal/layout/records.ts';
import type { CaptureRequest } from '../fatal-path/request.ts';
import type { Surroundings } from '../fatal-path/surroundings.ts';
import { withOwnWorld } from '../host/intrinsics/own-realm.ts';
import { loadWatchdogHalf } from '../install/half-loader.ts';
import { openFlight, startsOthersOnly } from '../recording/flight-start.ts';
import { startHiddenWorker } from '../watchdog/hidden-worker.ts';
import type { DeathSignals } from './signal-watch.ts';

const startAfterMs = 1000;
/** A program that still runs after the first time, and was in its loop for the second, is no short command. */
const startForSignalsMs = 120;
const leastInLoopMs = 50;
/** If the thread does not run by then, the machine is busy: otherwise it takes up to 50 ms. */
const lateThreadMs = 300;

/** Returns a function that undoes it. */
export function watchLoop(
  surroundings: Surroundings,
  host: Host,
  deathSignals: DeathSignals | undefined,
  capture: (request: CaptureRequest) => string | undefined,
): () => void {
  const { config, ownFile, withheld, lock } = surroundings;
  /** Until the thread runs, a signal kills at once and leaves no bundle, so that only a journal can show the death. */
  let late: OwnTimer | undefined;
  const start = (): void => {
    try {
      withOwnWorld(startThread);
    } catch {
      // A program that may not start threads (--permission) is not watched.
    }
  };
  const startThread = (): void => {
    const { source, startWatch, MemorySampler } = loadWatchdogHalf();
    surroundings.memory ??= new MemorySampler();
    const watch = startWatch({
      config,
      ownFile,
      source,
      startThread: startHiddenWorker,
      deathSignals,
      withheld,
      lock,
      capture,
      findJournal: () => surroundings.flight?.recorder.folder,
      memory: surroundings.memory,
      workers: surroundings.workers,
      origins: surroundings.origins,
      disarmLocals: () => surroundings.disarmLocals?.(),
      noteMemory: (profile) => keepMemory(surroundings, profile),
      note: (kind, payload) => {
        // A process that is killed in its stall can report nothing: its session is found later.
        if (kind === recordKinds.stall) openFlight(surroundings);
        noteInJournal(surroundings, kind, payload);
      },
    });
    surroundings.watch = watch;
    Object.defineProperty(host, 'watchdog', { configurable: true, value: watch.hook });
    late = startOwnTimer(() => {
      if (watch.threadId === 0 && !startsOthersOnly(surroundings)) openFlight(surroundings, () => {});
    }, lateThreadMs);
  };
  // In a test process each millisecond counts, and its supervisor observes its end.
  const afterMs = deathSignals && !surroundings.tests ? startForSignalsMs : startAfterMs;
  let timer: OwnTimer | undefined;
  const startLate = (): void => {
    timer = startOwnTimer(() => {
      if (startsOthersOnly(surroundings)) return;
      const inLoopMs = performance.now() - performance.nodeTiming.loopStart;
      if (inLoopMs < leastInLoopMs) startLate();
      else start();
    }, afterMs);
  };
  if (config.watchFromStart) start();
  else startLate();
  return () => {
    timer?.stop();
    late?.stop();
    surroundings.watch?.uninstall();
  };
}

/** Opens the journal for it, because nothing can be written once the heap runs out. */
function keepMemory(surroundings: Surroundings, profile: HeapProfilePart | undefined): void {
  openFlight(surroundings);
  surroundings.flight?.recorder.sample();
  surroundings.flight?.noteRequests();
  if (!profile) return;
  surroundings.heapProfile = profile;
  noteInJournal(surroundings, recordKinds.heapProfile, profile);
}

function noteInJournal({ flight, recordingPolicy }: Surroundings, kind: number, payload: object): void {
  const clean = recordingPolicy?.policy.value(payload);
  if (clean !== undefined) flight?.recorder.append(kind, JSON.stringify(clean));
}
