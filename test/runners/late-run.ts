/**
 * `npm run trial:late -- [--only TEXT]… [--node PATH]… [--beside 1]`: runs every suite of late-cases.ts under `agentdump ci`,
 * and compares whom its report names with what the suite recorded itself. Exit code 1 if the wrong test was blamed. Packages:
 * `npm ci --prefix test/runners`.
 */
import { parseArgs } from 'node:util';
import { lateCases } from './late-cases.ts';
import { tryOne, type Verdict } from './late-trial.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    node: { type: 'string', multiple: true, default: [process.execPath] },
    beside: { type: 'string', default: '1' },
  },
});
const chosen = lateCases.filter(({ name }) => values.only?.some((text) => name.includes(text)) ?? true);
for (const node of values.node) {
  const counts: Partial<Record<Verdict, number>> = {};
  const waiting = [...chosen];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { owner, verdict, told } = await tryOne(next, node);
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      if (verdict !== 'right') console.log(`${verdict}: ${next.name}; began by ${owner}\n    ${told}`);
      if (verdict === 'wrong') process.exitCode = 1;
    }
  };
  await Promise.all(Array.from({ length: Number(values.beside) }, lane));
  console.log(`${node}: ${chosen.length} suites`, counts);
}
