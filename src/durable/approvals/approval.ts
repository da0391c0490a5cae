/**
 * Waits for a person, a signal or a time. The question is recorded once, the answer is looked for in the store until it is
 * there, and once taken it becomes a record of the run. If the process dies meanwhile, a resumed run continues to wait and
 * does not ask again.
 */
import { newId } from '../../journal/write/session-id.ts';
import type { Awaits } from '../records/layout.ts';
import { hashOf } from '../records/values.ts';
import type { DurableRun } from '../runs/durable-run.ts';
import { childKey, findOutcome } from '../runs/parent-run.ts';
import type { ApprovalEntry } from '../runs/run-log.ts';
import { StepLimits } from '../steps/attempt.ts';
import { type CallPosition, positionFacts } from '../steps/call-position.ts';
import type { MaybePromise } from '../stores/store.ts';
import type { Found, OpenWait } from './open-waits.ts';

export interface Question {
  path: string;
  request: unknown;
  /** Absent for the question about a step in doubt. */
  position?: CallPosition | undefined;
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

/**
 * Returns the answer: of a person, or the signal that arrived, or undefined if the time is over. The ticket of a new answer
 * is taken in the tick of its record, because answers and ends of steps are delivered in the order in which they are
 * recorded.
 */
export async function waitForAnswer(
  run: DurableRun,
  question: Question,
  { tell, begin, signal }: ApprovalOptions,
): Promise<{ answer: unknown; ticket?: number }> {
  const { asked } = question;
  const { seq, id, awaits } = asked ?? (await ask(run, question));
  if (asked && !asked.readAnswer) await run.recorder.add('durableApproval', { event: 'waits', of: seq });
  await tell?.(id);
  if (asked?.readAnswer) return { answer: asked.readAnswer() };
  await begin?.(awaits);
  const limits = new StepLimits({ host: [run.signal, signal], lost: run.lost.signal });
  const wait: OpenWait = {
    path: question.path,
    untilMs: awaits?.untilMs,
    look: () => lookFor(run, wait, id, awaits),
    end: () => limits.end(),
    left: new AbortController(),
  };
  // If the run is put to rest or the try is given up, this never settles.
  const found = await run.waits.unlessLeft(wait, () =>
    limits.hold(() => run.outside(() => run.waits.hold(wait, limits.signal))),
  );
  const added = run.recorder.addWith(
    'durableApproval',
    { event: 'answered', of: seq, ...(found?.slot !== undefined && { slot: found.slot }) },
    found?.value,
  );
  const ticket = run.order.takeTicket();
  try {
    await added;
  } catch (error) {
    run.order.dropTicket(ticket);
    throw error;
  }
  if (!awaits) run.checkpoints.noteEvent('approval');
  return { answer: found?.value, ticket };
}

async function ask(
  run: DurableRun,
  { path, request, position, awaits }: Question,
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
  } as const;
  const seq = await run.recorder.addWith('durableApproval', facts, request);
  if (!awaits) run.notify(`waits for ${path}: agentdump approve ${quote(run.id)} ${quote(path)}`);
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
