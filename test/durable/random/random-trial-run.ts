/**
 * `npm run trial:durable -- --programs N --seed N`: a third of the programs have pauses between their steps, a third have
 * signals, sleeps, time limits, tries, child runs in queues and cancellations.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTrial } from './random-trial.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1000' },
  },
});
const kinds = {
  'driven by their steps': {},
  'with pauses between their steps': { raw: true },
  'with signals, sleeps, limits, tries, child runs and cancellations': { full: true },
};
const programs = Math.ceil(Number(values.programs) / 3);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-random-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let faults = 0;
for (const [index, [kind, shape]] of Object.entries(kinds).entries()) {
  // What a program with a fault leaves there must not be found by the one of another kind with the same seed.
  const ofKind = join(folder, String(index));
  const outcome = await runTrial({ programs, firstSeed: Number(values.seed), shape, folder: ofKind });
  faults += outcome.faults.length;
  console.log(`${programs} programs ${kind}, ${outcome.lives} lives: ${outcome.faults.length} with a fault`);
  for (const line of outcome.faults) console.log(line);
}
process.exitCode = faults > 0 ? 1 : 0;
