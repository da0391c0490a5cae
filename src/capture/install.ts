/**
 * Puts agentdump into the running program, once a thread, and takes it out again. A failure here is one line on stderr
 * and a program without us.
 */
import { resolve } from 'node:path';
import { findHost, type Host, installHost } from '../agent/context.ts';
import { version } from '../version.ts';
import { type Config, type InstallOptions, readConfig } from './config.ts';
import { type EventTap, tapEvents } from './event-tap.ts';
import { type CaptureRequest, captureBundle } from './fatal-path.ts';
import { armLocals } from './locals-recorder.ts';
import { configurePolicy, withholdValue } from './policy.ts';
import { writeStderrLine } from './stderr-line.ts';
import { triggers } from './triggers/index.ts';

/** An exit so soon after a captured death belongs to that death. */
const sameDeathMs = 30_000;

/** Installs every handler of this thread; returns the undoing. A second call returns the first one's. */
export function install(options: InstallOptions = {}): () => void {
  const present = findHost();
  if (present) return () => present.uninstall();
  try {
    const config = readConfig(process.env, options, writeStderrLine);
    return config.enabled ? installConfigured(config) : () => {};
  } catch (error) {
    writeStderrLine(`not installed: ${error instanceof Error ? error.message : String(error)}`);
    return () => {};
  }
}

function installConfigured(given: Config): () => void {
  // The program may change its working directory later.
  const config = { ...given, dir: resolve(given.dir) };
  configurePolicy(config);
  const events = tapEvents(process);
  const undoings = installTriggers(config, events);
  const uninstall = (): void => {
    for (const undo of undoings.reverse()) undo();
    events.uninstall();
    removeHost();
  };
  const removeHost = installHost(createHost(config, uninstall));
  return uninstall;
}

function installTriggers(config: Config, events: EventTap): (() => void)[] {
  let capturedAt = Number.NEGATIVE_INFINITY;
  const capture = (request: CaptureRequest): string | undefined => {
    const path = captureBundle(config, request);
    if (!request.kind.startsWith('snapshot')) capturedAt = performance.now();
    return path;
  };
  const hasJustCaptured = (): boolean => performance.now() - capturedAt < sameDeathMs;
  const { isMainThread } = process.getBuiltinModule('node:worker_threads');
  const undoings = triggers.map((trigger) =>
    trigger({ config, events, isMainThread, capture, hasJustCaptured }),
  );
  if (config.locals === 'uncaught') undoings.push(armLocals());
  return undoings.filter((undo) => undo !== undefined);
}

function createHost(config: Config, uninstall: () => void): Host {
  return {
    version,
    state: new Map(),
    providers: new Map(),
    withhold: withholdValue,
    dump: (reason) =>
      captureBundle(config, {
        kind: 'snapshot-call',
        handledByHost: false,
        ...(reason === undefined ? {} : { details: { reason } }),
      }),
    uninstall,
  };
}
