/**
 * The public API. Small on purpose: what runs at a death lives in the preload file, which is loaded when `install` or
 * `dump` is called and no preload is there.
 */
import { findHost, provideContext, setContext } from './agent/api/context.ts';
import type { InstallOptions } from './capture/install/config.ts';
import { writeStderrLine } from './capture/install/stderr-line.ts';
import { durableAgent } from './durable/api.ts';
import { loadPreload } from './find-preload.ts';

export type * from './model/account.ts';
export type * from './model/agent-state.ts';
export type * from './model/tests.ts';
export type * from './model/thread.ts';
export type * from './model/verdict.ts';
export type { InstallOptions };

/**
 * What the agent tells its flight recorder: without the preload these calls do nothing but run the host's functions.
 * Durable runs (`run` with `durable: true`) work with and without it.
 */
export const agent = {
  ...durableAgent,
  /** Keeps a reference under `name`, read at the moment of death. `undefined` forgets it. */
  set: setContext,
  /** Has a function called at the moment of death, synchronously and for at most 100 ms. Returns the undoing. */
  provide: provideContext,
};

/**
 * Installs the handlers of the preload in this thread, for programs that cannot be started with it. Returns the
 * undoing. What happened before the call, and what was imported before it, is not seen. Where a bundler has taken this
 * package into the program and left register.cjs behind, stderr says so in one line, and the program goes on.
 */
export function install(options?: InstallOptions): () => void {
  const preload = loadPreload() as Preload | undefined;
  if (preload) return preload.install(options);
  writeStderrLine(
    'not installed: register.cjs is missing; put agentdump/dist/register.cjs beside the bundled program, or leave agentdump out of the bundle',
  );
  return () => {};
}

/** Writes a snapshot bundle and goes on. Returns its path, or undefined when it could not be written (stderr says why). */
export function dump(reason?: string): string | undefined {
  const host = findHost();
  if (host) return host.dump(reason);
  const undo = install({ signals: [], snapshotSignal: 'off' });
  try {
    return findHost()?.dump(reason);
  } finally {
    undo();
  }
}

/** Has `value` withheld from every part of every bundle, whatever it looks like. */
export function redactValue(value: string): void {
  findHost()?.withhold(value);
}

interface Preload {
  install(options?: InstallOptions): () => void;
}
