/** `npm run trial:durable -- --programs N --seed N`: half of the programs with pauses between their steps. */
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
const programs = Math.ceil(Number(values.programs) / 2);
const folder = mkdtempSync(join(tmpdir(), 'agentdump-random-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let faults = 0;
for (const raw of [false, true]) {
  const outcome = await runTrial({ programs, firstSeed: Number(values.seed), raw, folder });
  faults += outcome.faults.length;
  const kind = raw ? 'with pauses between their steps' : 'driven by their steps';
  console.log(`${programs} programs ${kind}, ${outcome.lives} lives: ${outcome.faults.length} with a fault`);
  for (const line of outcome.faults) console.log(line);
}
process.exitCode = faults > 0 ? 1 : 0;
