/**
 * Where the host program's copy of the API and the preload's copy meet: one object on globalThis. Knows what the host
 * handed over for the dump; knows nothing of how or when it is read. With no preload every call here does nothing.
 */

import type { AgentPort } from './port.ts';
import type { TestPort } from './test-port.ts';

/** The meeting point; only the preload puts it there. */
export interface Host {
  readonly version: string;
  /** Values by name, as last set. */
  readonly state: Map<string, unknown>;
  /** Functions that are called at the moment of death, each with its own deadline. */
  readonly providers: Map<string, () => unknown>;
  /** Values that must not be seen in any part, whatever they look like. */
  withhold(value: string): void;
  /** Takes what the explicit API reports of the agent; absent when nothing of it is recorded. */
  readonly agent?: AgentPort;
  /** Takes what is reported of tests. */
  readonly tests?: TestPort;
  /** Writes a snapshot bundle and goes on; the bundle's path, or undefined when nothing could be written. */
  dump(reason?: string): string | undefined;
  /** What the watchdog's thread asks this one in a stall; absent where none watches. */
  readonly watchdog?: unknown;
  /** Takes every handler away again. */
  uninstall(): void;
}

const key = Symbol.for('agentdump.host');

/** The preload's object, when the preload is loaded in this thread. */
export function findHost(): Host | undefined {
  return (globalThis as Record<symbol, Host | undefined>)[key];
}

/** Makes `host` the meeting point of this thread; returns the undoing. */
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
 * Keeps `value` under `name` for the dump: a reference, read at the moment of death, so later changes inside it are
 * seen. `undefined` forgets the name.
 */
export function setContext(name: string, value: unknown): void {
  const state = findHost()?.state;
  if (value === undefined) state?.delete(name);
  else state?.set(name, value);
}

/** Has `read` called at the moment of death, synchronously, at most 100 ms; returns the undoing. */
export function provideContext(name: string, read: () => unknown): () => void {
  const providers = findHost()?.providers;
  providers?.set(name, read);
  return () => {
    if (providers?.get(name) === read) providers.delete(name);
  };
}
