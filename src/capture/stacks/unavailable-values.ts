/**
 * Whether the debugger tells a value that the optimising compiler has let go of (`(optimised away)`) from `undefined`. From
 * V8 12 on it always does; V8 11 (Node 20) only under a flag, which is read as a scope is made: so before the stop. Source:
 * `experimental_value_unavailable` in V8's flag-definitions.h and debug-scopes.cc.
 */

/** Of the whole process, whichever thread asks. Undoes nothing that the host has chosen: the flag is not for programs. */
export function tellUnavailableValues(isWanted: boolean): void {
  if (!process.versions.v8.startsWith('11.')) return;
  const name = 'experimental-value-unavailable';
  process.getBuiltinModule('node:v8').setFlagsFromString(isWanted ? `--${name}` : `--no-${name}`);
}
