// What a test that failed, and passed when its file ran again alone, means. On a machine that was overloaded beyond what our own
// run does, nothing; otherwise it is a race, in the test or in what it tests. It is reported with its reason at the end of the run,
// and is a bug to find. `.ci/run` (AGENTDUMP_TESTS_STEADY) fails if there are more than `mostRaces` of them that are not on the
// list below: thousands of tests with real processes meet a rare race now and then, and one must not throw away the work of a day,
// but several at once are a change that made something unsteady. An entry goes when its race is gone.
/** Files with a race that is not on the list and that one run may have. */
export const mostRaces = 2;

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
