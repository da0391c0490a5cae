/** Removes a run from memory that does nothing but wait, after two looks. */
import type { DurableRun } from '../runs/durable-run.ts';

/** A run whose wait ends sooner is not put to rest. */
const shortestRestMs = 2_000;

export interface HeldRun {
  run?: DurableRun;
  rest?: () => void;
  /** The number of its records at the last look, if it only waited then. */
  stillAt?: number | undefined;
}

/** `isStopping`: also one whose wait ends soon. */
export function putToRest(held: HeldRun, isStopping: boolean): void {
  const { run, rest, stillAt } = held;
  const dueAtMs = run?.waits.untilMs ?? 'never';
  const isSoon = dueAtMs !== 'never' && dueAtMs - Date.now() < shortestRestMs && !isStopping;
  const isStill = run?.isOnlyWaiting === true && !isSoon;
  if (isStill && run.recorder.count === stillAt) rest?.();
  held.stillAt = isStill ? run.recorder.count : undefined;
}
