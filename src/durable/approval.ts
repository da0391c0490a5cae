/**
 * Waits for a person: the question is recorded once, the answer is looked for in the store until it is there, and once
 * taken it is the run's own record. Whoever dies meanwhile goes on waiting after a resume and asks nobody again.
 */
import { StepLimits } from './attempt.ts';
import type { ScopedRun } from './durable-run.ts';
import type { Answer } from './layout.ts';
import { joinPath } from './step-path.ts';
import type { MaybePromise } from './store.ts';

export interface ApprovalOptions {
  /** Tells people of the question, once it is recorded. Called at every resume too: make it a step. */
  tell?: (path: string) => MaybePromise<unknown>;
  signal?: AbortSignal | undefined;
}

const lookEveryMs = 100;

/** `name` is a label within the scope, already unique there. */
export async function waitForAnswer(
  { run, scope }: ScopedRun,
  name: string,
  request: unknown,
  { tell, signal }: ApprovalOptions,
): Promise<Answer> {
  run.recorder.requireWhole();
  const path = joinPath(scope.path, name);
  const asked = run.log.approvals.get(path);
  const seq = asked?.seq ?? (await ask(run, path, request));
  await tell?.(path);
  if (asked?.readAnswer) return asked.readAnswer() as Answer;
  const limits = new StepLimits(undefined, [run.signal, signal]);
  const payload = await limits.hold(() => lookUntilFound(run, path, limits));
  const answer = run.codec.decode(payload).readValue() as Answer;
  await run.recorder.addWith('durableApproval', { event: 'answered', of: seq }, answer);
  run.checkpoints.noteEvent('approval');
  return answer;
}

async function ask(run: ScopedRun['run'], path: string, request: unknown): Promise<number> {
  const seq = await run.recorder.addWith('durableApproval', { event: 'asked', path }, request);
  run.notify(`waits for ${path}: agentdump approve ${quote(run.id)} ${quote(path)}`);
  return seq;
}

async function lookUntilFound(run: ScopedRun['run'], path: string, limits: StepLimits): Promise<Uint8Array> {
  for (;;) {
    const found = await run.store.findAnswer(run.id, path);
    if (found) return found;
    limits.requireWanted();
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** A word for a shell. */
export function quote(word: string): string {
  return /^[\w.,:@%+=/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
