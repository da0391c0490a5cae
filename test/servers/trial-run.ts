/**
 * `npm run trial:servers -- [--count 100] [--framework express]… [--node PATH]… [--how timer]… [--beside 2] [--seed 1]`: this
 * many trials of each framework on each Node. Prints which requests the accounts did not name, by way, and exits with 1 if
 * another one was blamed. Packages: `npm ci --prefix test/servers` and `test/servers/trial`. AGENTDUMP_CONTEXT defaults to
 * `always`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Framework, frameworks, type Trial } from './drive.ts';
import { type Judged, judge, planTrials } from './trial.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    beside: { type: 'string', default: '2' },
    framework: { type: 'string', multiple: true, default: [...frameworks] },
    how: { type: 'string', multiple: true },
    node: { type: 'string', multiple: true, default: [process.execPath] },
  },
});
const env = { AGENTDUMP_CONTEXT: process.env['AGENTDUMP_CONTEXT'] ?? 'always' };
const root = mkdtempSync(join(tmpdir(), 'agentdump-trial-'));
const folder = fileURLToPath(new URL('trial', import.meta.url));
let places = 0;

if (values.framework.includes('next') && !existsSync(join(folder, 'next', '.next', 'BUILD_ID')))
  spawnSync(
    process.execPath,
    [join(folder, 'node_modules', 'next', 'dist', 'bin', 'next'), 'build', 'next'],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    },
  );

async function tryAll(node: string, trials: Trial[]): Promise<Judged[]> {
  const waiting = [...trials];
  const judged: Judged[] = [];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const dir = join(root, String(++places));
      judged.push(await judge(next, { node, dir, env }));
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    }
  };
  await Promise.all(Array.from({ length: Number(values.beside) }, lane));
  return judged;
}

const countOf = (judged: Judged[], verdict: Judged['verdict']): number =>
  judged.filter((one) => one.verdict === verdict).length;

for (const node of values.node.map((path) => resolve(path)))
  for (const framework of values.framework) {
    const trials = planTrials(framework as Framework, Number(values.count), Number(values.seed));
    const judged = await tryAll(
      node,
      trials.filter(({ how }) => values.how?.includes(how) ?? true),
    );
    const unknown = judged.filter(({ verdict }) => verdict === 'unknown').map(({ how }) => how);
    const own = judged.filter(({ isShared }) => !isShared);
    console.log(
      `${node}, ${framework}: ${judged.length} trials, right ${countOf(judged, 'right')} ` +
        `(of a request's own ${countOf(own, 'right')} of ${own.length}), not known ${unknown.length}` +
        `${unknown.length ? ` (${[...new Set(unknown)].sort().join(', ')})` : ''}, ` +
        `caller named ${countOf(judged, 'caller')}, wrong ${countOf(judged, 'wrong')}, broken ${countOf(judged, 'broken')}`,
    );
    for (const { verdict, how, told } of judged)
      if (verdict === 'wrong' || verdict === 'broken') console.log(`  ${verdict}, ${how}: ${told}`);
    if (countOf(judged, 'wrong') > 0) process.exitCode = 1;
  }
rmSync(root, { recursive: true, force: true, maxRetries: 3 });
