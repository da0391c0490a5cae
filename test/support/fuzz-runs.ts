/**
 * How often a fuzz test runs: as often as it says (a hundred times where it says nothing), or by hand so many times as
 * often as AGENTDUMP_FUZZ_FACTOR says.
 */
import fc from 'fast-check';

const factor = Math.max(1, Number(process.env['AGENTDUMP_FUZZ_FACTOR'] ?? 1) || 1);

export function fuzzRuns(runs: number): number {
  return Math.ceil(runs * factor);
}

fc.configureGlobal({ numRuns: fuzzRuns(100) });
