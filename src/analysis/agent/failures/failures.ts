/**
 * Applies all failure rules to one agent; the only module that imports all of them. Failures that explain the death come
 * first.
 */
import type { AgentFailure } from '../../../model/agent-state.ts';
import { agentFailureKinds } from '../../../model/agent-state.ts';
import { aborts } from './aborts.ts';
import type { FailureInput, FailureRule } from './failure-input.ts';
import { malformedOutput } from './malformed-output.ts';
import { modelFailures } from './model-failures.ts';
import { serverFailures } from './server-failures.ts';
import { loops, pendingApprovals, starvation } from './stuck-failures.ts';
import { toolFailures } from './tool-failures.ts';

const rules: readonly FailureRule[] = [
  modelFailures,
  malformedOutput,
  serverFailures,
  toolFailures,
  loops,
  aborts,
  pendingApprovals,
  starvation,
];
const mostFailures = 10;

const weightOf = ({ isCauseOfDeath, causeConfidence }: AgentFailure): number =>
  Number(isCauseOfDeath) + Number(causeConfidence === 'certain');

export function findFailures(input: FailureInput): AgentFailure[] {
  return rules
    .flatMap((rule) => rule(input))
    .sort(
      (a, b) =>
        weightOf(b) - weightOf(a) || agentFailureKinds.indexOf(a.kind) - agentFailureKinds.indexOf(b.kind),
    )
    .slice(0, mostFailures);
}
