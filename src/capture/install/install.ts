/**
 * Installs agentdump into the running program, once per thread, and uninstalls it. On failure it prints one line to stderr,
 * and the program runs without us.
 */
import { resolve } from 'node:path';
import { findHost, type Host, installHost } from '../../agent/api/context.ts';
import { CausalContext } from '../../agent/record/causal-context.ts';
import { ours } from '../../agent/taps/own-work.ts';
import { kindOfTrigger } from '../../bundle/layout/verdict-codes.ts';
import { type Lock, readLock } from '../../bundle/write/age-key.ts';
import { beginBundle, withdrawBegun } from '../../bundle/write/begin-early.ts';
import { version } from '../../version.ts';
import type { HandledErrors } from '../fatal-path/handled-errors.ts';
import { type CaptureRequest, leavesAlive } from '../fatal-path/request.ts';
import { isMainThread, type Surroundings } from '../fatal-path/surroundings.ts';
import { requireAddressRoom } from '../host/address-room.ts';
import { shieldExit } from '../host/exit-shield.ts';
import { fileCompilers } from '../host/file-compilers.ts';
import { withOwnWorld } from '../host/intrinsics/own-realm.ts';
import { watchForAgent } from '../recording/agent-watch.ts';
import { noteEndsOfChildren, startFlightLate, startsOthersOnly } from '../recording/flight-start.ts';
import { handOverTo } from '../recording/hand-over.ts';
import { watchListens } from '../recording/listen-sites.ts';
import { tapLogs } from '../recording/log-tap.ts';
import { describeHandled, ProcessEvents } from '../recording/process-events.ts';
import { watchReplacement } from '../recording/replaced-program.ts';
import { watchRequests } from '../recording/request-watch.ts';
import { leaveStartMark, removeStartMark } from '../recording/start-mark.ts';
import { watchWarnings } from '../recording/warning-watch.ts';
import { WorkWatch } from '../recording/work-watch.ts';
import { type EventTap, tapEvents } from '../triggers/event-tap.ts';
import { triggers } from '../triggers/index.ts';
import { KnownWorkers } from '../triggers/known-workers.ts';
import { watchLoop } from '../triggers/loop-watch.ts';
import type { DeathSignals } from '../triggers/signal-watch.ts';
import { uncached } from './code-cache.ts';
import { type Config, type InstallOptions, readConfig } from './config.ts';
import { loadColdHalf, programNameLate, requireHalves } from './half-loader.ts';
import { writeStderrLine } from './stderr-line.ts';
import { watchForTests } from './test-watch.ts';

const { now } = Date;

/** An exit this soon after a captured death belongs to that death. */
const sameDeathMs = 30_000;

/** Node sets it in a program that it restarts at changes (`--watch`), and what that program starts inherits it. */
const isWatched = process.env['WATCH_REPORT_DEPENDENCIES'] !== undefined;

/** Installs every handler of this thread; returns a function that undoes it. A second call returns that of the first one. */
export function install(options: InstallOptions | null = {}): () => void {
  const present = findHost();
  if (present) return () => present.uninstall();
  try {
    const config = readConfig(process.env, options, writeStderrLine);
    if (!config.enabled) return () => {};
    requireHalves();
    requireAddressRoom();
    return installConfigured(config);
  } catch (error) {
    writeStderrLine(`not installed: ${error instanceof Error ? error.message : String(error)}`);
    return () => {};
  }
}

function installConfigured(given: Config): () => void {
  // Resolved now, because the program may change its working directory later.
  const dir = resolve(given.dir);
  const config = { ...given, dir: isWatched ? loadColdHalf().unwatchedFolder(dir) : dir };
  const events = tapEvents(process);
  const lock = readLockEarly(config);
  const logs = isMainThread && config.logs === 'tail' ? tapLogs() : undefined;
  const causal = new CausalContext();
  const requests = watchRequests(config, causal);
  const listens = watchListens();
  const surroundings: Surroundings = {
    config,
    ownFile: __filename,
    compilers: fileCompilers(),
    workers: new KnownWorkers(),
    withheld: [],
    lock,
    processEvents: new ProcessEvents(),
    origins: { causal, requests },
    listens,
    logs,
  };
  if (isMainThread && !startsOthersOnly(surroundings))
    attempt(() => Object.assign(surroundings, { startMark: leaveStartMark(config.dir) }));
  const work = new WorkWatch();
  const isEndOfWork = (exitCode: number): boolean => work.isEndOfWork(exitCode, surroundings, host);
  const { undoings, captureEvent, deathSignals } = installTriggers(surroundings, events, isEndOfWork);
  undoings.push(() => work.stop());
  const uninstall = (): void => {
    for (const undo of undoings.reverse()) undo();
    events.uninstall();
    removeHost();
  };
  const host = createHost(surroundings, uninstall);
  const removeHost = installHost(host);
  undoings.push(() => removeStartMark(surroundings));
  undoings.push(() => requests.undo());
  undoings.push(() => listens.undo());
  watchWarnings(events, surroundings.processEvents);
  if (logs) undoings.push(logs.undo);
  undoings.push(startFlightLate(surroundings));
  undoings.push(
    watchForAgent(surroundings, host, (request) => harmless(() => capture(surroundings, request))),
  );
  watchForTests(surroundings, host, capture);
  if (isMainThread && (config.hangMs > 0 || deathSignals))
    undoings.push(watchLoop(surroundings, host, deathSignals, captureEvent));
  return uninstall;
}

/**
 * Read now, because a file of recipients may be relative to this working directory, and a mistake is better reported early.
 */
function readLockEarly({ recipient }: Config): Lock | undefined {
  if (recipient === undefined) return undefined;
  try {
    return readLock(recipient);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    writeStderrLine(`AGENTDUMP_RECIPIENT is ${reason}; unless that changes, no bundle will be written`);
    return undefined;
  }
}

interface InstalledTriggers {
  undoings: (() => void)[];
  captureEvent: (request: CaptureRequest) => string | undefined;
  deathSignals: DeathSignals | undefined;
}

function installTriggers(
  surroundings: Surroundings,
  events: EventTap,
  isEndOfWork: (exitCode: number) => boolean,
): InstalledTriggers {
  const { config, workers } = surroundings;
  let deathSignals: DeathSignals | undefined;
  let capturedAt = Number.NEGATIVE_INFINITY;
  /** Of the cold half, which every bundle needs. */
  let handled: HandledErrors | undefined;
  let isExiting = false;
  let atEnd: (() => void) | undefined;
  const captureDeath = (asked: CaptureRequest): string | undefined => {
    // npm passes its signal on, and ends by it as what it has started does.
    if (asked.kind === 'signal' && startsOthersOnly(surroundings)) return undefined;
    const request = { ...asked, atMs: now() };
    if (!leavesAlive(request.kind)) capturedAt = performance.now();
    return harmless(() => {
      if (isOwnDeath(request) && request.kind !== 'signal') attempt(() => surroundings.watch?.noteDeath());
      attempt(() => noteHandled(request, surroundings.processEvents));
      const path = captureBegun(surroundings, request);
      if (path !== undefined && isOwnDeath(request)) {
        attempt(() => surroundings.flight?.recorder.noteBundle(path));
        removeStartMark(surroundings);
      }
      if (path !== undefined && isMainThread)
        attempt(() => {
          handled ??= new (loadColdHalf().HandledErrors)(captureDeath);
          handled.captured(path, request, isExiting);
        });
      // Last, so that who is killed meanwhile has left nothing unfinished; a signal's death has a limit of time.
      if (path !== undefined && !isWatched && isOwnDeath(request) && request.kind !== 'signal')
        attempt(() => loadColdHalf().keepCode(uncached));
      return path;
    });
  };
  const hasJustCaptured = (): boolean => performance.now() - capturedAt < sameDeathMs;
  const ended = (exitCode: number): void => {
    isExiting = true;
    harmless(() => {
      attempt(() => atEnd?.());
      attempt(() => handled?.ended());
      attempt(() => surroundings.watch?.letGo());
      attempt(() => noteEndsOfChildren(surroundings));
      attempt(() => surroundings.flight?.recorder.end(exitCode));
      removeStartMark(surroundings);
      attempt(() => surroundings.tests?.close(exitCode));
    });
  };
  const exited = (exitCode: number): void => {
    harmless(() => handled?.exited(exitCode));
  };
  const offerSignals = (offered: DeathSignals): void => {
    deathSignals = offered;
    surroundings.deathSignals = offered;
  };
  const context = {
    config,
    events,
    workers,
    isMainThread,
    capture: captureDeath,
    hasJustCaptured,
    expectsExit: () => surroundings.tests?.expectsExit() ?? false,
    isInTest: () => config.exits !== 'off' && surroundings.tests?.isInTest() === true,
    isEndOfWork,
    dieIfDue: () => deathSignals?.dieIfDue(),
    whenEnded: (react: () => void) => {
      atEnd = react;
    },
    ended,
    exited,
  };
  const undoings = triggers.map((trigger) => trigger({ ...context, offerSignals }));
  if (isMainThread)
    undoings.push(
      watchReplacement(() => {
        deathSignals?.dieIfDue();
        shieldExit(() => ended(0));
      }),
    );
  if (config.locals === 'uncaught') {
    const { armLocals, whyNotArmed } = loadColdHalf();
    if (whyNotArmed() === undefined) surroundings.disarmLocals = armLocals(surroundings.ownFile);
    undoings.push(surroundings.disarmLocals);
  }
  if (config.handles === 'stacks')
    undoings.push(loadColdHalf().armCreators(surroundings.ownFile, process.getBuiltinModule('node:fs')));
  return {
    undoings: undoings.filter((undo) => undo !== undefined),
    captureEvent: captureDeath,
    deathSignals,
  };
}

function noteHandled(
  { kind, handledByHost, thrown, details }: CaptureRequest,
  processEvents: ProcessEvents,
): void {
  if (!handledByHost || !thrown) return;
  processEvents.add({
    kind: kind === 'unhandled-rejection' ? 'handledRejection' : 'handledException',
    payload: describeHandled(thrown.value, details?.origin ?? kind),
  });
}

/** The process ends after this, so that nobody needs to search for the cause again. */
function isOwnDeath({ kind, handledByHost }: CaptureRequest): boolean {
  return isMainThread && !handledByHost && !leavesAlive(kind) && kind !== 'worker-death';
}

/** Never throws, nor ends the process, which dies of its original cause. */
function harmless<Value>(run: () => Value): Value | undefined {
  try {
    return shieldExit(() => withOwnWorld(run));
  } catch {
    return undefined;
  }
}

/** A failure does not keep the next steps from running. */
function attempt(run: () => void): void {
  try {
    run();
  } catch {
    // It called something that the program has replaced; what it would have recorded is missing.
  }
}

/**
 * Compiling the cold half takes a tenth of the time in which the bundle is written. If the process is killed meanwhile, this
 * leaves a trace, except for a repeated death, which only the cold half recognizes. The trace contains nothing but what the
 * name of a bundle contains. So it is also written before an encrypted bundle, but not if no bundle can be written.
 */
function captureBegun(surroundings: Surroundings, request: CaptureRequest): string | undefined {
  const { config, lock } = surroundings;
  const isReadable = config.recipient === undefined || lock !== undefined;
  const mayBegin = isOwnDeath(request) && isReadable && surroundings.begun === undefined;
  if (!mayBegin) return capture(surroundings, request);
  attempt(() => {
    const program = programNameLate();
    const verdictKind = kindOfTrigger[request.kind];
    surroundings.begun = beginBundle(config.dir, { program, verdictKind, writer: version });
  });
  const { begun } = surroundings;
  try {
    return capture(surroundings, request);
  } finally {
    if (begun !== undefined) withdrawBegun(begun);
    delete surroundings.begun;
  }
}

/** Like captureBundle, but also handles that the cold half can't be compiled. */
function capture(surroundings: Surroundings, request: CaptureRequest): string | undefined {
  const write = (): string | undefined => {
    attempt(() => surroundings.recording?.open());
    return loadColdHalf().captureBundle(surroundings, request);
  };
  try {
    const path = withOwnWorld(() => (surroundings.watch ? surroundings.watch.excuse(write) : write()));
    if (path !== undefined)
      attempt(() => surroundings.tests?.noteBundle(path, request.kind, request.handledByHost));
    return path;
  } catch (error) {
    writeStderrLine(`no bundle: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function createHost(surroundings: Surroundings, uninstall: () => void): Host {
  const handOver = handOverTo(surroundings.config.dir, process.env);
  return {
    version,
    state: new Map(),
    providers: new Map(),
    withhold: (value) => {
      surroundings.withheld[surroundings.withheld.length] = value;
      ours(() => surroundings.recordingPolicy?.policy.addKnown(value));
      ours(() => surroundings.watch?.withhold(value));
      ours(() => handOver(value));
    },
    dump: (reason) =>
      harmless(() =>
        capture(surroundings, {
          kind: 'snapshot-call',
          handledByHost: false,
          ...(reason === undefined ? {} : { details: { reason } }),
        }),
      ),
    uninstall,
  };
}
