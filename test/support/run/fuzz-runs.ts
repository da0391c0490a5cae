/**
 * How often a fuzz test runs. In the wide run: the test's own number, a hundred by default. In `npm test`: a third of that.
 * If AGENTDUMP_FUZZ_FACTOR is set: that many times the own number, with a different seed each time (1 is enough for that).
 * Without it the seed is fixed, so that a failure is caused by a change and not by chance.
 */
import fc from 'fast-check';
import { isWideRun, partInTurn } from './test-nodes.ts';

const asked = process.env['AGENTDUMP_FUZZ_FACTOR'];
const factor = asked === undefined && !isWideRun ? 1 / 3 : Math.max(1, Number(asked ?? 1) || 1);
const seed = 20_261_122;

export function fuzzRuns(runs: number): number {
  return Math.ceil(runs * factor);
}

/** fast-check options for a slow test: in `.ci/run` a quarter of the runs, with one of four seeds, selected by the commit. */
export function fuzzInTurn(runs: number): { numRuns: number; seed?: number } {
  const parts = [0, 1, 2, 3];
  const [part = 0, ...others] = partInTurn(parts, parts.length);
  if (others.length > 0) return { numRuns: fuzzRuns(runs) };
  return { numRuns: fuzzRuns(runs / parts.length), seed: seed + part };
}

fc.configureGlobal({ numRuns: fuzzRuns(100), ...(asked === undefined && { seed }) });
