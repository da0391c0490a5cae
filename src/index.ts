/**
 * The public API. Deliberately small: the code that runs at a death is in the preload file, which is loaded by `install` or
 * `dump` if it is not there yet.
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
 * What the agent reports to its flight recorder. Without the preload these calls only run the host's functions. Durable runs
 * (`run` with `durable: true`) work with and without it.
 */
export const agent = {
  ...durableAgent,
  /** Keeps a reference under `name`, which is read at the moment of death. `undefined` removes it. */
  set: setContext,
  /**
   * Registers a function that is called at the moment of death, synchronously and for at most 100 ms. Returns a function that
   * removes it.
   */
  provide: provideContext,
};

/**
 * Installs the handlers of the preload in this thread, for programs that can't be started with it. Returns a function that
 * uninstalls them. What happened or was imported before the call is not recorded. If a bundler has included this package in
 * the program and left out register.cjs, one line on stderr says so, and the program continues.
 */
export function install(options?: InstallOptions): () => void {
  const preload = loadPreload() as Preload | undefined;
  if (preload) return preload.install(options);
  writeStderrLine(
    'not installed: register.cjs is missing; put agentdump/dist/register.cjs beside the bundled program, or leave agentdump out of the bundle',
  );
  return () => {};
}

/**
 * Writes a snapshot bundle; the program continues. Returns its path, or undefined if it could not be written (the reason is
 * on stderr).
 */
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

/** Withholds `value` from every part of every bundle, whatever it looks like. */
export function redactValue(value: string): void {
  findHost()?.withhold(value);
}

interface Preload {
  install(options?: InstallOptions): () => void;
}
