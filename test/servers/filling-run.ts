/**
 * `npm run trial:fillings -- [--framework express]… [--node PATH]… [--how TEXT]… [--beside 2] [--seed 1]`: each way to fill
 * the heap, to block the loop or to end the process, in each framework on each Node. Prints what was not right; exits with 1
 * if another request was named. Packages as for trial:servers. AGENTDUMP_CONTEXT defaults to `always`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../support/synth/seeded-random.ts';
import type { Framework } from './drive.ts';
import { type JudgedFilling, judgeFilling } from './filling-trial.ts';
import { fillings, stops } from './trial/filling.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    beside: { type: 'string', default: '2' },
    framework: {
      type: 'string',
      multiple: true,
      default: ['http', 'express', 'fastify', 'koa', 'hono', 'http2'],
    },
    how: { type: 'string', multiple: true },
    node: { type: 'string', multiple: true, default: [process.execPath] },
  },
});
const env = { AGENTDUMP_CONTEXT: process.env['AGENTDUMP_CONTEXT'] ?? 'always' };
const root = mkdtempSync(join(tmpdir(), 'agentdump-fillings-'));
const random = new SeededRandom(Number(values.seed));
let places = 0;

for (const node of values.node.map((path) => resolve(path))) {
  const counts: Record<string, Record<string, number>> = {};
  const waiting = [...Object.keys(fillings), ...Object.keys(stops)]
    .filter((how) => values.how?.some((text) => how.includes(text)) ?? true)
    .flatMap((how) =>
      values.framework.map((framework) => ({ how, framework: framework as Framework, at: random.below(50) })),
    );
  const note = ({ verdict, how, framework, told }: JudgedFilling): void => {
    counts[how] ??= {};
    counts[how][verdict] = (counts[how][verdict] ?? 0) + 1;
    if (verdict !== 'right') console.log(`  ${verdict}, ${how}, ${framework}: ${told}`);
    if (verdict === 'wrong') process.exitCode = 1;
  };
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const dir = join(root, String(++places));
      note(await judgeFilling(next, { node, dir, env }));
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    }
  };
  await Promise.all(Array.from({ length: Number(values.beside) }, lane));
  for (const [how, found] of Object.entries(counts)) console.log(node, how, found);
}
rmSync(root, { recursive: true, force: true, maxRetries: 3 });
