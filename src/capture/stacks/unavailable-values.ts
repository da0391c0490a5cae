/**
 * Makes the debugger distinguish a value that the optimizing compiler has discarded (`(optimised away)`) from `undefined`.
 * From V8 12 on it always does; V8 11 (Node 20) only with a flag, which is read when a scope is created, so before the stop.
 * Source: `experimental_value_unavailable` in V8's flag-definitions.h and debug-scopes.cc.
 */

/**
 * Applies to the whole process, whichever thread calls it. Overrides no choice of the host, because the flag is not meant for
 * programs.
 */
export function tellUnavailableValues(isWanted: boolean): void {
  if (!process.versions.v8.startsWith('11.')) return;
  const name = 'experimental-value-unavailable';
  process.getBuiltinModule('node:v8').setFlagsFromString(isWanted ? `--${name}` : `--no-${name}`);
}
