/**
 * Adds the agent's failure to the verdict: the process died of an error, and the agent's events show what that error meant.
 * The kind and the confidence of the verdict do not change.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { AgentFailure, AgentRun, AgentState, AgentStep } from '../../../model/agent-state.ts';
import { stepText } from '../../../model/tool-text.ts';
import { type Evidence, traitsOf, type Verdict } from '../../../model/verdict.ts';

const mostEvidence = 4;
/** Failures that are reported even if no error mentions them. */
const standing = new Set<AgentFailure['kind']>(['loop', 'approval-pending', 'starvation']);
/** For ends caused by the program's own code: what that code did. */
const deeds: Partial<Record<Verdict['kind'], string>> = {
  'uncaught-exception': 'died',
  'unhandled-rejection': 'died',
  exit: 'ended the process',
};

export function explainByAgent(reached: Verdict, agent: AgentState | undefined): Verdict {
  const [failure] = agent?.failures ?? [];
  // Nothing died in a snapshot; the failure is shown in the agent's section.
  if (!agent || reached.kind === 'snapshot') return reached;
  // If the process was ended from outside, the agent's state comes first in the summary.
  const { isFromOutside } = traitsOf(reached.kind);
  const deed = deeds[reached.kind];
  const verdict = deed === undefined ? reached : withWork(reached, agent, deed);
  if (!failure) return isFromOutside ? withCircle(verdict, agent) : verdict;
  if (!failure.isCauseOfDeath && !standing.has(failure.kind)) return verdict;
  const sentence = sentenceOf(failure);
  return {
    ...verdict,
    summary:
      failure.isCauseOfDeath || isFromOutside
        ? `${sentence} ${verdict.summary}`
        : `${verdict.summary} ${sentence}`,
    evidence: [
      ...verdict.evidence,
      ...failure.evidence.filter((one) => !isSaid(one, verdict)).slice(0, mostEvidence),
    ],
    nextSteps: withStep(verdict.nextSteps, failure),
  };
}

const isSaid = ({ fact }: Evidence, { evidence }: Verdict): boolean =>
  evidence.some((one) => one.fact.includes(fact.replace(/\.$/, '')));

const hedges = { certain: '', likely: 'Probable cause: ', possible: 'Possible cause: ' } as const;

function sentenceOf({ title, isCauseOfDeath, causeConfidence = 'likely' }: AgentFailure): string {
  const hedged = `${isCauseOfDeath ? hedges[causeConfidence] : ''}${title.replace(/\.$/, '')}.`;
  return `${hedged[0]?.toUpperCase()}${hedged.slice(1)}`;
}

/** A process that was killed may have been stuck long before. */
function withCircle(verdict: Verdict, { waitGraph }: AgentState): Verdict {
  const title = waitGraph?.cycles[0]?.title;
  return title ? { ...verdict, summary: `The agent stood still: ${title}. ${verdict.summary}` } : verdict;
}

/** First if it is the cause, otherwise last. */
function withStep(steps: readonly string[], { nextStep, isCauseOfDeath }: AgentFailure): string[] {
  if (nextStep === undefined) return [...steps];
  return isCauseOfDeath ? [nextStep, ...steps].slice(0, 6) : [...steps, nextStep];
}

/** Names the run, step and tool that the failing code worked for, by joining the stack with the agent's events. */
function withWork(verdict: Verdict, agent: AgentState, deed: string): Verdict {
  const { diedIn, runs } = agent;
  if (!diedIn) return withOwner(verdict, agent);
  const run = runs.find(({ id }) => id === diedIn.runId);
  const tool = run?.toolCalls.find(({ eventId }) => eventId !== undefined && eventId === diedIn.toolId);
  const step = run?.steps.find(({ id }) => id === diedIn.stepId);
  const work = [
    tool && `tool ${tool.name} (${tool.id})`,
    step && `${stepText(step.name ?? step.id)} (${step.id})`,
    run && !run.implicit && `run ${run.name ?? run.id}`,
  ];
  const names = work.filter((name) => typeof name === 'string');
  if (!names.length) return verdict;
  // What the recorder counts are the runs and steps of frameworks: the program may have begun others.
  const others = runs.flatMap((one) => [one, ...one.steps]).filter((one) => one !== run && one !== step);
  if (diedIn.from === 'only-open' && others.some(isOpenWork)) return verdict;
  const fact =
    diedIn.from === 'context'
      ? `The code that ${deed} worked for ${names.join(', in ')} (by its asynchronous context).`
      : `The only ${step ? 'step' : 'run'} that was open then is ${names.join(', in ')}. Whether the code that ${deed} worked for it is not known.`;
  return { ...verdict, evidence: [...verdict.evidence, { fact, part: partNames.agentEvents }] };
}

/** The implicit run has no beginning or end of its own. */
const isOpenWork = (work: AgentRun | AgentStep): boolean =>
  work.status === 'running' && !('implicit' in work && work.implicit);

/** A rejection that reached the caller of a run has left the context of its step, but it is the error object with which the step failed. */
function withOwner(verdict: Verdict, { runs, diedOf = [] }: AgentState): Verdict {
  for (const { id, as } of diedOf)
    for (const run of runs) {
      const step = run.steps.find((one) => one.id === id && one.status === 'failed');
      if (!step) continue;
      const within = run.implicit ? '' : `, in run ${run.name ?? run.id},`;
      const what = as === 'error' ? 'this error' : 'the cause of this error';
      const name = stepText(step.name ?? step.id);
      const fact = `${name[0]?.toUpperCase()}${name.slice(1)} (${step.id})${within} failed with ${what}.`;
      return { ...verdict, evidence: [...verdict.evidence, { fact, part: partNames.agentEvents }] };
    }
  return verdict;
}
