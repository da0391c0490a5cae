// What a test that failed, and passed when its file ran again alone, means. On a machine that was overloaded beyond what our own
// run does, nothing; otherwise it is a race, in the test or in what it tests, and fails the run of `.ci/run`
// (AGENTDUMP_TESTS_STEADY) unless it is on the list below. An entry goes when its race is gone.
/**
 * Files that are known to fail by chance.
 * @type {{ file: string, since: string, reason: string }[]} `since`: the day on which the entry was made. `reason`: what happens,
 *   and why the test cannot exclude it yet.
 */
export const knownRaces = [];

/** Why a file that passed only when it ran again fails nothing; undefined where it does. */
export function whyTolerated(file, overload, races = knownRaces) {
  if (overload !== undefined) return `overload: ${overload}`;
  const race = races.find((one) => one.file === file);
  return race && `known since ${race.since}: ${race.reason}`;
}
