/**
 * How often a fuzz test runs: as often as it says (a hundred times where it says nothing) in the wide run, a third of
 * that in `npm test`, or by hand so many times as often as AGENTDUMP_FUZZ_FACTOR says. By hand (1 will do) the inputs are
 * new ones each time; else the same, so that a change is what makes a test fail, and not its luck.
 */
import fc from 'fast-check';
import { isWideRun } from './test-nodes.ts';

const asked = process.env['AGENTDUMP_FUZZ_FACTOR'];
const factor = asked === undefined && !isWideRun ? 1 / 3 : Math.max(1, Number(asked ?? 1) || 1);
const seed = 20_261_122;

export function fuzzRuns(runs: number): number {
  return Math.ceil(runs * factor);
}

fc.configureGlobal({ numRuns: fuzzRuns(100), ...(asked === undefined && { seed }) });
