/**
 * The meeting point of the host program's copy of the API and the preload's copy: one object on globalThis. Holds what the
 * host provides for the dump, and does not know how or when it is read. Without the preload every call here does nothing.
 */

import type { AgentPort } from './port.ts';
import type { TestPort } from './test-port.ts';

/** The meeting point. Only the preload installs it. */
export interface Host {
  readonly version: string;
  /** The last value set for each name. */
  readonly state: Map<string, unknown>;
  /** Functions that are called at the time of death, each with its own deadline. */
  readonly providers: Map<string, () => unknown>;
  /** Registers a value that must not appear in any part, whatever its format. */
  withhold(value: string): void;
  /** Receives what the explicit API reports about the agent. Absent if nothing of it is recorded. */
  readonly agent?: AgentPort;
  /** Receives what is reported about tests. */
  readonly tests?: TestPort;
  /** Writes a snapshot bundle; the program continues. Returns the bundle's path, or undefined if nothing could be written. */
  dump(reason?: string): string | undefined;
  /** What the watchdog's thread queries in this thread during a stall. Absent if there is no watchdog. */
  readonly watchdog?: unknown;
  /** Removes all handlers. */
  uninstall(): void;
}

const key = Symbol.for('agentdump.host');

/** The preload's object, if the preload is loaded in this thread. */
export function findHost(): Host | undefined {
  return (globalThis as Record<symbol, Host | undefined>)[key];
}

/** Installs `host` as the meeting point of this thread. Returns a function that removes it. */
export function installHost(host: Host): () => void {
  Object.defineProperty(globalThis, key, {
    value: host,
    configurable: true,
    enumerable: false,
    writable: true,
  });
  return () => {
    if (findHost() === host) delete (globalThis as Record<symbol, unknown>)[key];
  };
}

/**
 * Keeps `value` under `name` for the dump. It is kept by reference and read at the time of death, so later mutations are
 * included. `undefined` removes the name.
 */
export function setContext(name: string, value: unknown): void {
  const state = findHost()?.state;
  if (value === undefined) state?.delete(name);
  else state?.set(name, value);
}

/**
 * Registers `read` to be called at the time of death, synchronously, for at most 100 ms. Returns a function that unregisters
 * it.
 */
export function provideContext(name: string, read: () => unknown): () => void {
  const providers = findHost()?.providers;
  providers?.set(name, read);
  return () => {
    if (providers?.get(name) === read) providers.delete(name);
  };
}
