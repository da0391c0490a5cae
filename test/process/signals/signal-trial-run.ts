/**
 * `npm run trial:signals -- --count 1000 [--node PATH]… [--beside 16] [--seed 1]`: runs this number of trials on each Node
 * and prints what differed. Exit code 1 if anything did. Absolute times on a busy machine mean little, so a `late` trial is
 * judged again alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { preload } from '../../support/victims/run-victim.ts';
import { type Judged, judge, planTrials, type Trial } from './signal-trial.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    beside: { type: 'string', default: String(4 * availableParallelism()) },
    node: { type: 'string', multiple: true, default: [process.execPath] },
  },
});
const repeatsOfLate = 3;
const root = mkdtempSync(join(tmpdir(), 'agentdump-trial-'));
let places = 0;
let differing = 0;

const tell = ({ program, signal, afterMs, verdict, bare, loaded, lateMs, besideMs }: Judged): string =>
  `${verdict}: ${program.name}, ${signal} after ${afterMs} ms, ${lateMs} ms later` +
  `${besideMs === undefined ? '' : `, as bare ${besideMs} ms beside`}\n  bare   ${bare}\n  loaded ${loaded}`;

async function tryOne(trial: Trial, node: string): Promise<Judged> {
  return judge(trial, { node, preload, dir: join(root, String(++places)) });
}

async function tryAll(node: string): Promise<Judged[]> {
  const waiting = planTrials(Number(values.count), Number(values.seed));
  const judged: Judged[] = [];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const one = await tryOne(next, node);
      judged.push(one);
      if (one.verdict !== 'same' && one.verdict !== 'late') console.log(tell(one));
    }
  };
  await Promise.all(Array.from({ length: Number(values.beside) }, lane));
  for (const [at, one] of judged.entries())
    for (let again = 0; again < repeatsOfLate && judged[at]?.verdict === 'late'; again++)
      judged[at] = await tryOne(one, node);
  for (const one of judged) if (one.verdict === 'late') console.log(tell(one));
  return judged;
}

for (const node of values.node.map((path) => resolve(path))) {
  const judged = await tryAll(node);
  const countOf = (verdict: Judged['verdict']): number =>
    judged.filter((one) => one.verdict === verdict).length;
  differing += countOf('differs') + countOf('late');
  const lateness = judged.map(({ lateMs }) => lateMs).sort((a, b) => a - b);
  console.log(
    `${node}: ${judged.length} trials, ${countOf('same')} the same, ${countOf('boundary')} at a boundary, ` +
      `${countOf('starved')} not judged on a machine too busy, ` +
      `${countOf('differs')} different, ${countOf('late')} later than a second; ` +
      `later by ${lateness[lateness.length >> 1]} ms (median), load ${loadavg()[0]?.toFixed(1)}`,
  );
}
rmSync(root, { recursive: true, force: true, maxRetries: 3 });
process.exitCode = differing > 0 ? 1 : 0;
