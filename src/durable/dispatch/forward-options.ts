/** Options of `forwardDueRuns`. */
import { AgentdumpError } from '../../errors.ts';
import type { DueRun, DurableStore } from '../stores/store.ts';

export interface ForwardOptions {
  store: DurableStore;
  /** Names of the programs whose runs are passed on. Runs of a queue are not: only workers hold its limits. */
  names: readonly string[];
  /**
   * Adds a job that calls `performDueRun` with this id. If there is such a job that has not begun, it should not add a second
   * one: a job's key, or its singleton key, is the id.
   */
  add: (run: DueRun) => unknown;
  /** Longest pause between two looks; ended early by notifications of the store. Default: 1,000. */
  everyMs?: number;
  /** A run that no job has taken after this time is passed on again. Default: 60,000. */
  againMs?: number;
  /** Receives failures to find or to add. Default: stderr. */
  notify?: (line: string) => void;
}

export function requireDueStore({ place, findDue, rest }: DurableStore): void {
  if (findDue && rest) return;
  throw new AgentdumpError('usage', `the store ${place} can't tell which runs are due`, {
    argument: 'store',
  });
}
