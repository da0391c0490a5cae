/**
 * How often a fuzz test runs: as often as it says (a hundred times where it says nothing) in the wide run, a third of
 * that in `npm test`, or by hand so many times as often as AGENTDUMP_FUZZ_FACTOR says. By hand (1 will do) the inputs are
 * new ones each time; else the same, so that a change is what makes a test fail, and not its luck.
 */
import fc from 'fast-check';
import { isWideRun, partInTurn } from './test-nodes.ts';

const asked = process.env['AGENTDUMP_FUZZ_FACTOR'];
const factor = asked === undefined && !isWideRun ? 1 / 3 : Math.max(1, Number(asked ?? 1) || 1);
const seed = 20_261_122;

export function fuzzRuns(runs: number): number {
  return Math.ceil(runs * factor);
}

/** Of fast-check, for what takes long: in `.ci/run` a quarter of the runs, with one of four seeds by the commit. */
export function fuzzInTurn(runs: number): { numRuns: number; seed?: number } {
  const parts = [0, 1, 2, 3];
  const [part = 0, ...others] = partInTurn(parts, parts.length);
  if (others.length > 0) return { numRuns: fuzzRuns(runs) };
  return { numRuns: fuzzRuns(runs / parts.length), seed: seed + part };
}

fc.configureGlobal({ numRuns: fuzzRuns(100), ...(asked === undefined && { seed }) });
