/** What the agent was waiting for when the end came: the join of the process's death and the agent's story. */
import { partNames } from '../../bundle/layout.ts';
import { formatCount } from '../../model/quantities.ts';
import type { Evidence } from '../../model/verdict.ts';
import type { VerdictFacts } from './facts.ts';

const mostShown = 5;

export function pendingOf({ account }: VerdictFacts): string[] {
  return account.agent?.runs.flatMap((run) => run.pending) ?? [];
}

export function inFlightEvidence(facts: VerdictFacts): Evidence[] {
  return pendingOf(facts)
    .slice(0, mostShown)
    .map((waiting) => ({ fact: `In flight: ${waiting}.`, part: partNames.agentEvents }));
}

/** ` The agent was waiting for tool search (call_1).`, or nothing when it waited for nothing. */
export function inFlightSentence(facts: VerdictFacts): string {
  const pending = pendingOf(facts);
  const [only] = pending;
  if (only === undefined) return '';
  return ` The agent was waiting for ${pending.length === 1 ? only : formatCount(pending.length, 'thing')}.`;
}
