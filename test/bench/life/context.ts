/**
 * The cost of tracking which request caused something, in real servers: CPU time per request, of all threads, of a server
 * without the preload, with it, and with it but without contexts (AGENTDUMP_CONTEXT=off). Another process sends twenty
 * requests at once. All servers run at once and do the same slices of work in turns, so that they meet the same machine; each
 * round has its own processes and yields the median ratio of its slices. Prints the median, minimum and maximum of the
 * rounds. ROWS, NODES: which of them, separated by commas; ROUNDS, SLICES: how many. Needs dist and `npm ci --prefix
 * test/servers`.
 */
import { testNodes } from '../../support/run/test-nodes.ts';
import { median } from '../trend.ts';
import { openPlace, type Place, Subject } from './subject.ts';

const listed = (name: string): string[] | undefined => process.env[name]?.split(',');
const rounds = Number(process.env['ROUNDS'] ?? 8);
const slices = Number(process.env['SLICES'] ?? 21);
const requests = 300;
/** The recorder starts after two seconds, the watchdog after one. */
const settledMs = 3000;
const mostRatio = 1.03;

const works = {
  express: 'Express, 10 awaits a request',
  fastify: 'Fastify, 40 awaits a request',
  promises: 'node:http, 130 promises a request',
};
/** `always`: the cost on Node 20 and 22 for a program that doesn't use AsyncLocalStorage itself, and asks for contexts. */
const lives = {
  bare: undefined,
  off: { AGENTDUMP_CONTEXT: 'off' },
  preload: {},
  always: { AGENTDUMP_CONTEXT: 'always' },
};
type LifeName = keyof typeof lives;
const names = Object.keys(lives) as LifeName[];
const compared: readonly [LifeName, LifeName][] = [
  ['preload', 'off'],
  ['always', 'off'],
  ['preload', 'bare'],
];

/** The ratios of one round, in the order of `compared`, and the microseconds of a request without the preload. */
async function tryRound(node: string, work: string, place: Place): Promise<{ ratios: number[]; us: number }> {
  const subjects = names.map((name) => new Subject(node, { work: `serve-${work}`, env: lives[name] }, place));
  const started = performance.now();
  while (performance.now() - started < settledMs) for (const one of subjects) await one.work(requests);
  const taken: Record<LifeName, number>[] = [];
  for (let slice = 0; slice < slices; slice++) {
    const ms = {} as Record<LifeName, number>;
    // The order alternates.
    for (let turn = 0; turn < names.length; turn++) {
      const at = (slice + turn) % names.length;
      ms[names[at]!] = await subjects[at]!.work(requests);
    }
    taken.push(ms);
  }
  await Promise.all(subjects.map((one) => one.end()));
  return {
    ratios: compared.map(([one, other]) => median(taken.map((ms) => ms[one] / ms[other]))),
    us: (median(taken.map(({ bare }) => bare)) / requests) * 1000,
  };
}

async function printRow(major: number, node: string, work: keyof typeof works, place: Place): Promise<void> {
  const found: Awaited<ReturnType<typeof tryRound>>[] = [];
  for (let round = 0; round < rounds; round++) found.push(await tryRound(node, work, place));
  const cells = compared.map(([one], at) => {
    const ratios = found.map((round) => round.ratios[at]!);
    const [middle, least, most] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
    const mark = one === 'preload' && at === 0 && middle > mostRatio ? ' MISSES' : '';
    return `${middle.toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)})${mark}`;
  });
  const us = median(found.map((round) => round.us)).toFixed(0);
  console.log(`| ${major} | ${works[work]} | ${us} | ${cells.join(' | ')} |`);
}

const place = await openPlace();
const rows = (listed('ROWS') ?? Object.keys(works)) as (keyof typeof works)[];
const majors = listed('NODES')?.map(Number);
console.log(`| Node | work | bare, µs CPU | ${compared.map((pair) => pair.join(' / ')).join(' | ')} |`);
console.log('|---|---|---|---|---|---|');
try {
  for (const work of rows)
    for (const { major, path } of testNodes)
      if (majors?.includes(major) ?? true) await printRow(major, path, work, place);
} finally {
  place.close();
}
