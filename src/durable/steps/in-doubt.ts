/**
 * Steps that were started and whose end is not known: each is reported to the user, and its policy decides. Implements the
 * policies; durable-step.ts runs steps.
 */
import { AgentdumpError } from '../../errors.ts';
import { ticketOf, waitForAnswer } from '../approvals/approval.ts';
import type { DoubtfulEffect, DoubtPolicy, EffectCheck } from '../options.ts';
import type { Answer } from '../records/layout.ts';
import { hashOf } from '../records/values.ts';
import type { DurableRun } from '../runs/durable-run.ts';
import type { StepEntry } from '../runs/log-entries.ts';
import type { ScopedRun } from '../runs/scoped-run.ts';
import type { WantedStep } from './wanted-step.ts';

/** A nested run consists only of its steps, each of which may be in doubt. */
export function isInDoubt({ kind, state }: StepEntry): boolean {
  return kind !== 'run' && (state === 'started' || state === 'aborted' || state === 'unkept');
}

/**
 * A check or a person that could not be asked: the program acts on that error, so it is the step's end. The step remains in
 * doubt if it ends the run.
 */
export async function endUnsettled(run: DurableRun, entry: StepEntry, error: unknown): Promise<number> {
  run.notify(`step ${entry.path} remains in doubt: ${error instanceof Error ? error.message : error}`);
  const isUnkept = entry.state === 'unkept';
  const doubt = isUnkept ? 'unkept' : 'aborted';
  const reason = isUnkept ? (entry.reason ?? '') : reasonOfDoubt(entry);
  const facts = { event: 'end', of: entry.seq, status: 'failed', doubt, reason } as const;
  const ticket = await ticketOf(run, entry.path, run.addError('durableStep', facts, error));
  run.noteFailure(error, entry.seq);
  return ticket;
}

function reasonOfDoubt({ state, reason }: StepEntry): string {
  if (state === 'unkept') return `it had returned, but ${reason}`;
  if (state === 'aborted') return reason ?? 'it was called off';
  return 'it had started and not ended';
}

/** `ticket`: taken in the tick in which the end was recorded. */
export type Settled = ({ result: unknown } | { error: unknown }) & { ticket: number };

/** The step's end, if the policy settles it; undefined if the step is to be run (again). */
export async function settleDoubt(
  scoped: ScopedRun,
  wanted: WantedStep,
  entry: StepEntry,
): Promise<Settled | undefined> {
  const { run } = scoped;
  const policy = wanted.options.inDoubt ?? run.options.inDoubt ?? 'retry';
  const action = typeof policy === 'string' ? policy : 'check';
  const effect = describeEffect(scoped, wanted, entry);
  run.notify(
    `step ${entry.path} is in doubt: ${effect.because}, at ${effect.startedAt.toISOString()}; ` +
      `${actions[action]} (effect key ${effect.key})`,
  );
  await run.recorder.add('durableStep', { event: 'doubt', of: entry.seq, action });
  if (action === 'retry') return undefined;
  if (action === 'skip') return settle(run, entry, 'skipped', undefined);
  if (action !== 'ask') {
    const checked = await checkOf(policy)(effect);
    return checked && settle(run, entry, 'finished', checked.result);
  }
  const answer = await ask(run, effect);
  if (!answer.approved) return reject(run, entry);
  return 'value' in answer ? settle(run, entry, 'finished', answer.value) : undefined;
}

const actions = {
  retry: 'it is run again',
  skip: 'it is skipped',
  ask: 'a person is asked',
  check: 'the world outside is asked',
};

function checkOf(policy: DoubtPolicy): EffectCheck {
  if (typeof policy === 'function') return policy;
  if (typeof policy === 'object') return policy.check;
  throw new AgentdumpError('usage', `inDoubt is retry, skip, ask or a function, not ${policy}`, {
    argument: 'inDoubt',
  });
}

/** Approved: it did not happen, so it is run; approved with a value: that is its result; rejected: an error of the step. */
async function ask(run: DurableRun, effect: DoubtfulEffect): Promise<Answer> {
  const request = {
    question: 'Did it happen? Approve to run it again, or with its result as the value.',
    ...effect,
  };
  // Specific to this doubt: a later one of the same step is another question.
  const path = `${effect.path}?`;
  const before = run.log.approvals.get(path);
  const asked = before && (before.id === undefined || before.input === hashOf(request)) ? before : undefined;
  const answered = await waitForAnswer(run, { path, request, asked }, {});
  // This answer is only delivered to the step itself.
  run.order.dropTicket(answered.ticket);
  if ('error' in answered) throw answered.error;
  return answered.answer as Answer;
}

async function reject(run: DurableRun, entry: StepEntry): Promise<Settled> {
  const error = new Error(`step ${entry.path} was in doubt and rejected`);
  const added = run.addError('durableStep', { event: 'end', of: entry.seq, status: 'failed' }, error);
  return { error, ticket: await ticketOf(run, entry.path, added) };
}

async function settle(
  run: DurableRun,
  entry: StepEntry,
  status: 'finished' | 'skipped',
  result: unknown,
): Promise<Settled> {
  const added = run.recorder.addWith('durableStep', { event: 'end', of: entry.seq, status }, result);
  return { result, ticket: await ticketOf(run, entry.path, added) };
}

function describeEffect(scoped: ScopedRun, { name }: WantedStep, entry: StepEntry): DoubtfulEffect {
  const { run } = scoped;
  return {
    key: scoped.effectKey(entry.path, entry.input),
    run: run.id,
    path: entry.path,
    name,
    startedAt: new Date(entry.startedAtMs),
    attempts: entry.attempts,
    because: reasonOfDoubt(entry),
  };
}
