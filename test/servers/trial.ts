/**
 * One trial: a real server with fifty requests in flight, one of which ends it. Compares whom the account blames with what
 * the victim recorded right before its end.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../../src/model/account.ts';
import { requestName } from '../../src/model/origin.ts';
import { SeededRandom } from '../support/synth/seeded-random.ts';
import { type Framework, liveAndDie, readAccount, requests, type Trial } from './drive.ts';
import { sharedWays, ways } from './trial/ways.mjs';

export interface Judged extends Trial {
  /**
   * `unknown`: none is blamed, and the account says that it is not known. `caller`: the one in whose context another's
   * callback ran is named, and the account says that this is possible. `wrong`: another is blamed, or none without saying so.
   * `broken`: no bundle, or a victim that did not die as instructed.
   */
  verdict: 'right' | 'unknown' | 'caller' | 'wrong' | 'broken';
  /** Its callback was called from another request's work. */
  isShared: boolean;
  told: string;
}

const names = Object.keys(ways);
/** Ways that need an HTTP response, which a WebSocket doesn't have. */
const needsResponse = new Set(['finish']);

export function planTrials(framework: Framework, count: number, seed: number): Trial[] {
  const random = new SeededRandom(seed);
  const possible = names.filter((name) => framework !== 'ws' || !needsResponse.has(name));
  // Uses each way once before any is repeated.
  const start = random.below(possible.length);
  return Array.from({ length: count }, (_, index) => ({
    framework,
    how: possible[(start + index) % possible.length]!,
    at: random.below(requests),
  }));
}

export async function judge(
  trial: Trial,
  { node, dir, env }: { node: string; dir: string; env: Record<string, string> },
): Promise<Judged> {
  const isShared = sharedWays.includes(trial.how);
  mkdirSync(dir, { recursive: true });
  const log = join(dir, 'truth.jsonl');
  const said = await liveAndDie(trial, { node, dir, env, log });
  const broken = (told: string): Judged => ({ ...trial, isShared, verdict: 'broken', told });
  if (!existsSync(log)) return broken(`the victim did not come to its end: ${said}`);
  const truth = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { path: string });
  const path = truth[0]!.path;
  if (truth.length > 1 || !path.endsWith(`/orders/${trial.at}`))
    return broken(`died otherwise: ${JSON.stringify(truth)}`);
  const bundles = readdirSync(dir).filter((entry) => entry.endsWith('.agentdump'));
  if (bundles.length !== 1) return broken(`${bundles.length} bundles: ${said}`);
  const account = await readAccount(join(dir, bundles[0]!));
  return { ...trial, isShared, ...verdictOf(account, path, { ...trial, isShared }) };
}

/** Judges both what programs read (`requests`, `origin`) and what people read (title and summary). */
function verdictOf(
  account: Account,
  path: string,
  { framework, isShared }: Trial & Pick<Judged, 'isShared'>,
): Pick<Judged, 'verdict' | 'told'> {
  const { title = '', summary = '', refutedBy = '' } = account.verdict ?? {};
  const blamed = (account.requests ?? []).filter(({ culprit }) => culprit).map(requestName);
  const name = `${framework === 'ws' ? 'WebSocket' : 'GET'} ${path}`;
  const told = `${blamed.join(', ') || 'nobody'} for ${name}: ${title} | ${summary}`;
  const isNamed = title.startsWith(`${name}: `) && summary.startsWith(`${name} `);
  if (blamed.length === 1 && blamed[0] === name && isNamed) return { verdict: 'right', told };
  const saysSo = /[Ww]hich request caused it is not known/.test(summary);
  // An account may know of none of them. Those of a server over HTTP/1 that the handlers ask do not count.
  const sawNone = !account.requests?.some(({ path = '' }) => path.includes('/orders/'));
  const isQuiet = blamed.length === 0 && (saysSo || sawNone) && !title.includes('/orders/');
  if (isQuiet) return { verdict: 'unknown', told };
  return {
    verdict: isShared && /As to the request: a queue, pool or emitter/.test(refutedBy) ? 'caller' : 'wrong',
    told,
  };
}
