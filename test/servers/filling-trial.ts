/**
 * One trial: a real server with fifty requests in flight, one of which fills the heap, blocks the loop or ends the process,
 * or all of which fill the heap together. Compares whom the account names with what the victim recorded before.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Account } from '../../src/model/account.ts';
import { requestName } from '../../src/model/origin.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { type Framework, liveAndDie, readAccount } from './drive.ts';
import { sharedFillings, stops } from './trial/filling.mjs';

export interface FillingTrial {
  framework: Framework;
  /** A name in filling.mjs. */
  how: string;
  /** Index of the request, of fifty, that does it. */
  at: number;
}

export interface JudgedFilling extends FillingTrial {
  /**
   * `right`: names the one that did it, or none if no single request did. `unknown`: names none. `caller`: names the one that
   * ran the work of others, and says that this is possible. `wrong`: names another. `broken`: no account of this death.
   */
  verdict: 'right' | 'unknown' | 'caller' | 'wrong' | 'broken';
  told: string;
}

const bin = fileURLToPath(new URL('../../bin/agentdump.js', import.meta.url));
const isStop = (how: string): boolean => Object.hasOwn(stops, how);
const hangs: ReadonlySet<string> = new Set(
  Object.keys(stops).filter((how) => how !== 'exit' && how !== 'its own SIGTERM'),
);

const kindsOf = (how: string): Verdict['kind'][] => {
  if (!isStop(how)) return ['heap-out-of-memory'];
  if (hangs.has(how)) return ['event-loop-hang'];
  return how === 'exit' ? ['exit'] : ['terminated'];
};

export async function judgeFilling(
  trial: FillingTrial,
  { node, dir, env }: { node: string; dir: string; env: Record<string, string> },
): Promise<JudgedFilling> {
  mkdirSync(dir, { recursive: true });
  const log = join(dir, 'truth.jsonl');
  const bundles = (): string[] => readdirSync(dir).filter((entry) => entry.endsWith('.agentdump'));
  const said = await liveAndDie(trial, {
    node,
    dir,
    env: { AGENTDUMP_HANG_MS: '1500', ...env },
    log,
    execArgv: isStop(trial.how) ? [] : ['--max-old-space-size=96'],
    ...(hangs.has(trial.how) && { isDone: () => bundles().length > 0 }),
  });
  if (!existsSync(log))
    return { ...trial, verdict: 'broken', told: `the victim did not come to it: ${said}` };
  // A death of a full heap is only written up by the next process, here `sweep`.
  if (!isStop(trial.how)) spawnSync(process.execPath, [bin, 'sweep', '--dir', dir], { encoding: 'utf8' });
  const [line = ''] = readFileSync(log, 'utf8').split('\n');
  const { path } = JSON.parse(line) as { path: string };
  const accounts = await Promise.all(bundles().map((name) => readAccount(join(dir, name))));
  // If the heap filled up between two looks at it, nothing recorded that it was full, and the kind of death is not known
  // either.
  const kinds = [...kindsOf(trial.how), ...(isStop(trial.how) ? [] : (['killed'] as const))];
  const own = accounts.find(({ verdict }) => verdict && kinds.includes(verdict.kind));
  if (!own) {
    const found = accounts.map(({ verdict }) => verdict?.kind).join(', ');
    return { ...trial, verdict: 'broken', told: `${found || 'no bundle'}: ${said.slice(-300)}` };
  }
  return { ...trial, ...verdictOf(own, path, trial) };
}

function verdictOf(
  account: Account,
  path: string,
  { framework, how }: FillingTrial,
): Pick<JudgedFilling, 'verdict' | 'told'> {
  const { title = '', summary = '', refutedBy = '' } = account.verdict ?? {};
  const blamed = (account.requests ?? []).filter(({ culprit }) => culprit).map(requestName);
  const method = framework === 'ws' ? 'WebSocket' : 'GET';
  const isTitled = title.includes('/orders/');
  const told = `${blamed.join(', ') || 'nobody'} for ${path || 'nobody'}: ${title} | ${summary}`;
  if (blamed.length === 0 && !isTitled) return { verdict: path === '' ? 'right' : 'unknown', told };
  const isRight = blamed.length === 1 && blamed[0] === `${method} ${path}`;
  if (isRight && summary.startsWith(`${method} ${path} `)) return { verdict: 'right', told };
  const isDoubted =
    sharedFillings.includes(how) && /As to the request: a queue, pool or emitter/.test(refutedBy);
  return { verdict: isDoubted ? 'caller' : 'wrong', told };
}
