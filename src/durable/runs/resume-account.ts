/** What a resume keeps and what the death has cost, in one sentence: steps, tokens, money, time. Pure. */

import type { Spent } from '../records/layout.ts';
import { isInDoubt } from '../steps/in-doubt.ts';
import type { StepEntry } from './log-entries.ts';
import type { RunLog } from './run-log.ts';

export interface ResumeAccount {
  attempt: number;
  kept: Share;
  /** For the steps that were interrupted or in doubt: what is known to have been spent on them. */
  lost: Share;
}

export interface Share {
  steps: number;
  ms: number;
  spent: Required<Spent>;
}

export function computeResumeAccount(log: RunLog): ResumeAccount {
  const steps = [...log.steps.values()].filter(({ kind }) => kind !== 'run');
  return {
    attempt: log.opens.length + 1,
    kept: shareOf(steps.filter(({ state }) => state === 'finished' || state === 'skipped')),
    lost: shareOf(
      steps.filter((step) => isInDoubt(step) || (step.state === 'void' && step.attempts > 0)),
      log.lastAtMs,
    ),
  };
}

export function renderResumeAccount({ attempt, kept, lost }: ResumeAccount): string {
  const words = `resumes, attempt ${attempt}: ${renderShare(kept)} kept`;
  if (lost.steps === 0) return `${words}, nothing lost`;
  return `${words}; lost: ${renderShare(lost)}`;
}

function shareOf(steps: readonly StepEntry[], untilMs = 0): Share {
  const share: Share = { steps: steps.length, ms: 0, spent: { inputTokens: 0, outputTokens: 0, usd: 0 } };
  for (const { startedAtMs, endedAtMs, spent } of steps) {
    share.ms += Math.max(0, (endedAtMs || untilMs) - startedAtMs);
    for (const { inputTokens = 0, outputTokens = 0, usd = 0 } of spent) {
      share.spent.inputTokens += inputTokens;
      share.spent.outputTokens += outputTokens;
      share.spent.usd += usd;
    }
  }
  return share;
}

function renderShare({ steps, ms, spent }: Share): string {
  const details: string[] = [];
  if (ms > 0) details.push(ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
  const tokens = spent.inputTokens + spent.outputTokens;
  if (tokens > 0) details.push(`${tokens.toLocaleString('en')} tokens`);
  if (spent.usd > 0) details.push(`$${spent.usd.toFixed(4).replace(/0{1,2}$/, '')}`);
  const head = `${steps} step${steps === 1 ? '' : 's'}`;
  return details.length ? `${head} (${details.join(', ')})` : head;
}
