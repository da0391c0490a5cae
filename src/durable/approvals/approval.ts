/**
 * Waits for a person: the question is recorded once, the answer is looked for in the store until it is there, and once
 * taken it is the run's own record. Whoever dies meanwhile goes on waiting after a resume and asks nobody again.
 */
import { newId } from '../../journal/write/session-id.ts';
import type { Answer } from '../records/layout.ts';
import { hashOf } from '../records/values.ts';
import type { DurableRun } from '../runs/durable-run.ts';
import type { ApprovalEntry } from '../runs/run-log.ts';
import { StepLimits } from '../steps/attempt.ts';
import { type CallPosition, positionFacts } from '../steps/call-position.ts';
import { ownPause } from '../steps/own-pause.ts';
import type { MaybePromise } from '../stores/store.ts';

export interface Question {
  path: string;
  request: unknown;
  /** Absent for the question after a step in doubt. */
  position?: CallPosition | undefined;
  /** As it was asked before; absent for one that is new. */
  asked?: ApprovalEntry | undefined;
}

export interface ApprovalOptions {
  /** Tells people of the question, once it is recorded. Called at every resume too: make it a step. `id` is the question's. */
  tell?: (id: string | undefined) => MaybePromise<unknown>;
  signal?: AbortSignal | undefined;
}

const lookEveryMs = 100;

/**
 * Under what the store keeps the answer. Of this question alone: one that is asked again, after a rollback or because its
 * request is another, has another id.
 */
export function answerKeyOf({ path, id }: { path: string; id?: string | undefined }): string {
  return id === undefined ? path : `${path}~${id}`;
}

export async function waitForAnswer(
  run: DurableRun,
  { path, request, position, asked }: Question,
  { tell, signal }: ApprovalOptions,
): Promise<Answer> {
  const { seq, id } = asked ?? (await ask(run, { path, request, position }));
  if (asked && !asked.readAnswer) await run.recorder.add('durableApproval', { event: 'waits', of: seq });
  await tell?.(id);
  if (asked?.readAnswer) return asked.readAnswer() as Answer;
  const limits = new StepLimits({ host: [run.signal, signal], lost: run.lost.signal });
  run.pending.questions++;
  const found = limits.hold(() => lookUntilFound(run, answerKeyOf({ path, id }), limits));
  const payload = await found.finally(() => run.pending.questions--);
  const answer = run.codec.decode(payload).readValue() as Answer;
  await run.recorder.addWith('durableApproval', { event: 'answered', of: seq }, answer);
  run.checkpoints.noteEvent('approval');
  return answer;
}

async function ask(
  run: DurableRun,
  { path, request, position }: Question,
): Promise<{ seq: number; id: string }> {
  const id = newId();
  const input = hashOf(request);
  const facts = {
    event: 'asked',
    path,
    id,
    ...(input !== undefined && { input }),
    ...(position && positionFacts(position)),
  } as const;
  const seq = await run.recorder.addWith('durableApproval', facts, request);
  run.notify(`waits for ${path}: agentdump approve ${quote(run.id)} ${quote(path)}`);
  return { seq, id };
}

async function lookUntilFound(run: DurableRun, key: string, limits: StepLimits): Promise<Uint8Array> {
  for (;;) {
    const found = await run.store.findAnswer(run.id, key);
    if (found) return found;
    limits.requireWanted();
    await ownPause(lookEveryMs);
  }
}

/** A word for a shell. */
export function quote(word: string): string {
  return /^[\w.,:@%+=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
