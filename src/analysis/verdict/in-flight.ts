/** What the agent was waiting for when the end came: the join of the process's death and the agent's story. */
import { partNames } from '../../bundle/layout.ts';
import type { AgentLoop, OpenWork, WaitCycle } from '../../model/agent-state.ts';
import { childText, endedBadly, lastLine } from '../../model/happening-text.ts';
import { clip, formatCount } from '../../model/quantities.ts';
import type { Evidence } from '../../model/verdict.ts';
import type { VerdictFacts } from './facts.ts';

const mostShown = 5;
const mostChildren = 3;
const longestFact = 400;

/** What was seen to begin and not to end, but for the tool or step that died itself. */
export function openWorkOf({ account }: VerdictFacts): OpenWork[] {
  const { runs = [], diedIn } = account.agent ?? {};
  const died = account.error && diedIn?.from === 'context' ? [diedIn.toolId ?? diedIn.stepId] : [];
  return runs.flatMap(({ open = [] }) => open).filter(({ id }) => id === undefined || !died.includes(id));
}

export const pendingOf = (facts: VerdictFacts): string[] => openWorkOf(facts).map(({ text }) => text);

/** Tool calls that the model had asked for and nobody was seen to run. */
export function requestedOf({ account }: VerdictFacts): string[] {
  return account.agent?.runs.flatMap(({ requested = [] }) => requested) ?? [];
}

/** Circles of waits and loops first, for they say why nothing else ended. */
export function inFlightEvidence(facts: VerdictFacts): Evidence[] {
  const { waitGraph, loops = [] } = facts.account.agent ?? {};
  return [
    ...(waitGraph?.cycles ?? []).map(({ sentence }) => `Circle of waits: ${sentence}`),
    ...loops.map(({ sentence }) => `Loop: ${sentence}`),
    ...pendingOf(facts)
      .slice(0, mostShown)
      .map((open) => `Begun and not ended: ${open}`),
    ...requestedOf(facts)
      .slice(0, mostShown)
      .map((asked) => `Requested by the model: ${asked}`),
  ]
    .map((fact): Evidence => ({ fact: `${clip(fact, longestFact)}.`, part: partNames.agentEvents }))
    .concat(childEvidence(facts));
}

/** Children that ended badly: what the agent talked to may be gone with them. The newest first. */
function childEvidence({ account }: VerdictFacts): Evidence[] {
  const failed = (account.happenings?.children ?? []).filter(endedBadly);
  return failed
    .slice(-mostChildren)
    .reverse()
    .map((child) => {
      const said = lastLine(child.stderrTail ?? '');
      const died = child.verdict
        ? ` Its own bundle says (${child.verdict.confidence}): ${child.verdict.title}.`
        : '';
      const bundle = child.bundle ? `${died} Its bundle is ${child.bundle.name}.` : '';
      const fact = `Child process ${childText(child)}${said && `, its last words: ${clip(said, 160)}`}.${bundle}`;
      return { fact, part: partNames.processEvents };
    });
}

export function firstCycle({ account }: VerdictFacts): WaitCycle | undefined {
  return account.agent?.waitGraph?.cycles[0];
}

/** A loop that the agent was in until the end. */
export function ongoingLoop({ account }: VerdictFacts): AgentLoop | undefined {
  return account.agent?.loops?.find(({ ongoing }) => ongoing);
}

/** ` The agent was waiting for tool search (call_1).`, or nothing when nothing of it was open. */
export function inFlightSentence(facts: VerdictFacts): string {
  const pending = pendingOf(facts);
  const [only] = pending;
  if (only === undefined) return '';
  return ` The agent was waiting for ${pending.length === 1 ? only : formatCount(pending.length, 'thing')}.`;
}
