/**
 * Waits for a person, a signal or a time. The question is recorded once, the answer is looked for in the store until it is
 * there, and once taken it becomes a record of the run. If the process dies meanwhile, a resumed run continues to wait and
 * does not ask again.
 */
import { newId } from '../../journal/write/session-id.ts';
import type { Awaits } from '../records/layout.ts';
import { hashOf } from '../records/values.ts';
import type { DurableRun } from '../runs/durable-run.ts';
import type { ApprovalEntry } from '../runs/log-entries.ts';
import { childKey, findOutcome } from '../runs/parent-run.ts';
import { StepLimits } from '../steps/attempt.ts';
import { type CallPosition, positionFacts } from '../steps/call-position.ts';
import type { MaybePromise } from '../stores/store.ts';
import type { Found, OpenWait } from './open-waits.ts';

export interface Question {
  path: string;
  request: unknown;
  /** Absent for the question about a step in doubt. */
  position?: CallPosition | undefined;
  /** It is asked by the code that the run awaits, and by no branch. */
  isOnMainLine?: boolean;
  /** The recorded question, if it was asked before. */
  asked?: ApprovalEntry | undefined;
  /** What is waited for; absent: a person. */
  awaits?: Awaits | undefined;
}

export interface ApprovalOptions {
  /**
   * Notifies people of the question once it is recorded. Also called at every resume, so it should be a step. `id` is the
   * question's.
   */
  tell?: (id: string | undefined) => MaybePromise<unknown>;
  /** Starts what is waited for, in every process that begins to wait. */
  begin?: ((awaits: Awaits | undefined) => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The key of the answer in the store, unique to this question: if it is asked again, after a rollback or with a different
 * request, it has another id.
 */
export function answerKeyOf({ path, id }: { path: string; id?: string | undefined }): string {
  return id === undefined ? path : `${path}~${id}`;
}

/** How a wait ended. The ticket of a new end is taken in the tick of its record. */
export type Answered = ({ answer: unknown } | { error: unknown }) & { ticket?: number };

/**
 * Returns the answer: of a person, or the signal that arrived, or undefined if the time is over. A wait that the program called
 * off, or that could not begin, has its error. All are records, and are delivered like ends of steps in the order in which they are recorded: an answer
 * that arrives later must not change what the program has acted on.
 */
export async function waitForAnswer(
  run: DurableRun,
  question: Question,
  { tell, begin, signal }: ApprovalOptions,
): Promise<Answered> {
  const { asked } = question;
  const { seq, id, awaits } = asked ?? (await ask(run, question));
  if (!asked && !awaits && !signal?.aborted)
    run.notify(`waits for ${question.path}: agentdump approve ${quote(run.id)} ${id}`);
  if (asked && !asked.readAnswer) await run.recorder.add('durableApproval', { event: 'waits', of: seq });
  await tell?.(id);
  if (asked?.readAnswer) return replay(run, asked.seq, asked.readAnswer(), asked.isAborted);
  const limits = new StepLimits({ host: [run.signal, signal], lost: run.lost.signal });
  const wait: OpenWait = {
    path: question.path,
    untilMs: awaits?.untilMs,
    look: () => lookFor(run, wait, id, awaits),
    end: () => limits.end(),
    left: new AbortController(),
  };
  let found: Found | undefined;
  try {
    await begin?.(awaits);
    // If the run is put to rest or the try is given up, this never settles.
    found = await run.waits.unlessLeft(wait, () =>
      limits.hold(() => run.outside(() => run.waits.hold(wait, limits.signal))),
    );
  } catch (error) {
    // What ends the run for this process is not recorded: a resume waits again.
    if (run.isCalledOff || run.recorder.broken) throw error;
    run.leaveWait(wait);
    const ticket = await ticketOf(
      run,
      question.path,
      run.addError('durableApproval', { event: 'aborted', of: seq }, error),
    );
    run.noteFailure(error, seq);
    return { error, ticket };
  }
  const facts = {
    event: 'answered',
    of: seq,
    ...(found?.slot !== undefined && { slot: found.slot }),
  } as const;
  const ticket = await ticketOf(
    run,
    question.path,
    run.recorder.addWith('durableApproval', facts, found?.value),
  );
  if (!awaits) run.checkpoints.noteEvent('approval');
  return { answer: found?.value, ticket };
}

function replay(run: DurableRun, seq: number, outcome: unknown, isAborted = false): Answered {
  if (!isAborted) return { answer: outcome };
  run.noteFailure(outcome, seq);
  return { error: outcome };
}

/** Taken at once, and valid when the record is stored. */
export async function ticketOf(run: DurableRun, path: string, added: MaybePromise<number>): Promise<number> {
  const ticket = run.order.takeTicket(path);
  try {
    await added;
    return ticket;
  } catch (error) {
    run.order.dropTicket(ticket);
    throw error;
  }
}

async function ask(
  run: DurableRun,
  { path, request, position, isOnMainLine, awaits }: Question,
): Promise<{ seq: number; id: string; awaits: Awaits | undefined }> {
  const id = newId();
  const input = hashOf(request);
  const facts = {
    event: 'asked',
    path,
    id,
    ...awaits,
    ...(input !== undefined && { input }),
    ...(position && positionFacts(position)),
    ...(isOnMainLine && { isOnMainLine }),
  } as const;
  const seq = await run.recorder.addWith('durableApproval', facts, request);
  return { seq, id, awaits };
}

async function lookFor(
  run: DurableRun,
  wait: OpenWait,
  id: string | undefined,
  awaits: Awaits | undefined,
): Promise<Found | undefined> {
  if (awaits?.signal !== undefined) return run.takeSignal(awaits.signal, wait);
  if (awaits?.run !== undefined) return lookForEnd(run, awaits.run);
  const payload = awaits
    ? undefined
    : await run.store.findAnswer(run.id, answerKeyOf({ path: wait.path, id }));
  return payload && { value: run.codec.decode(payload).readValue() };
}

/** The run is only read once its end was reported. */
async function lookForEnd({ id, store, options }: DurableRun, child: string): Promise<Found | undefined> {
  if (!(await store.findAnswer(id, childKey(child)))) return undefined;
  const value = await findOutcome(store, child, { key: options.key, plain: options.plain });
  return value && { value };
}

/** Quotes a word for a shell. */
export function quote(word: string): string {
  return /^[\w.,:@%+=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
