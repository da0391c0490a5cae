/** The input of the failure rules, and what they share. Pure. */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { ChildFacts, ErrorFacts } from '../../../model/account.ts';
import type {
  AgentError,
  AgentFailure,
  AgentRun,
  AgentState,
  ModelCall,
} from '../../../model/agent-state.ts';
import { clip, firstLine } from '../../../model/quantities.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { everyError } from '../../verdict/wording.ts';

export interface FailureInput {
  agent: AgentState;
  /** The error that the process died of. */
  error?: ErrorFacts | undefined;
  cwd?: string | undefined;
  /** Including the verdicts of their own bundles. */
  children?: readonly ChildFacts[] | undefined;
}

/** Finds failures of one kind, or of several kinds with a common check. Empty if there are none. */
export type FailureRule = (input: FailureInput) => AgentFailure[];

export const evidenceOf = (fact: string): Evidence => ({ fact, part: partNames.agentEvents });

/** `429 rate_limit_error: Number of requests …`. */
export function errorText(error: AgentError | undefined, httpStatus?: number): string {
  const name = [httpStatus, error?.type ?? error?.code].filter((part) => part !== undefined).join(' ');
  const message = clip(firstLine(error?.message ?? ''), 300);
  return [name, message].filter(Boolean).join(': ') || 'no word of why';
}

type Cause = Pick<AgentFailure, 'isCauseOfDeath' | 'causeConfidence'>;

export const notTheCause: Cause = { isCauseOfDeath: false };

/**
 * Whether work `id` failed with the error that the process died of. Certain if it ended with that very error object; likely
 * if the error has the same message, unless the object is known to belong to other work of the same kind.
 */
export function causeBy({ agent }: FailureInput, id: string | undefined, saysSame: boolean): Cause {
  const owners = agent.diedOf ?? [];
  if (owners.some((owner) => owner.id === id)) return { isCauseOfDeath: true, causeConfidence: 'certain' };
  // The first letter of a recorder's id is its kind.
  const isOthers = owners.some((owner) => owner.id[0] === id?.[0]);
  return saysSame && !isOthers ? { isCauseOfDeath: true, causeConfidence: 'likely' } : notTheCause;
}

/**
 * Whether the process died of an error that contains this text. Texts under 6 characters are ignored, since they occur in too
 * many messages.
 */
export function isInError(error: ErrorFacts | undefined, text: string | undefined): boolean {
  const wanted = clip(firstLine(text ?? ''), 60).replace(/…$/, '');
  return wanted.length >= 6 && everyError(error).some(({ message = '' }) => message.includes(wanted));
}

/** The last call of a run decides: failures before it were retried. */
export function lastCallOf(run: AgentRun): ModelCall | undefined {
  return run.modelCalls.at(-1);
}
