/** Work that did not end: an answer by a person that never came, silence, a lock, the same again and again. */
import type { AgentFailure, AgentRun, AgentState } from '../../../model/agent-state.ts';
import { formatDuration } from '../../../model/quantities.ts';
import { evidenceOf, type FailureRule, modelName } from './failure-input.ts';

/** Shorter waits are how agents work. */
const silentMs = 60_000;
const lockedMs = 10_000;

export const pendingApprovals: FailureRule = ({ agent, error }) =>
  agent.runs.flatMap((run) => [...openApprovals(run), ...interrupts(run, error?.name)]);

function openApprovals(run: AgentRun): AgentFailure[] {
  return (run.waits ?? [])
    .filter(({ kind }) => kind === 'approval')
    .map(({ what, ageMs }) => ({
      kind: 'approval-pending',
      title: `nobody answered the question ${what}, asked ${formatDuration(ageMs)} before`,
      confidence: 'certain',
      evidence: [evidenceOf(`The approval ${what} was open for ${formatDuration(ageMs)}.`)],
      isCauseOfDeath: false,
      runId: run.id,
      nextStep: 'Answer it, and resume the run; a run that waits for a person should survive its process.',
    }));
}

/** A framework stops a step on purpose, by a throw, to ask a person. */
function interrupts(run: AgentRun, errorName: string | undefined): AgentFailure[] {
  const step = run.steps.findLast(({ status }) => status === 'interrupted');
  const last = run.steps.at(-1);
  if (!step || (last && last !== step && last.status === 'finished')) return [];
  const isThrown = /Interrupt$/.test(errorName ?? '');
  return [
    {
      kind: 'approval-pending',
      title: `step ${step.name ?? step.id} stopped to ask a person${isThrown ? ', and nothing caught the interrupt' : ''}`,
      confidence: 'certain',
      evidence: [
        evidenceOf(`Step ${step.name ?? step.id} (${step.id}) was interrupted, and no answer was given.`),
      ],
      isCauseOfDeath: isThrown,
      runId: run.id,
      callId: step.id,
      nextStep: 'Read the interrupt from the result of the run, ask the person, and resume with the answer.',
    },
  ];
}

export const starvation: FailureRule = ({ agent }) =>
  agent.runs.flatMap((run) => [...silentCalls(run), ...lockWaits(run)]);

function silentCalls(run: AgentRun): AgentFailure[] {
  return run.modelCalls
    .filter((call) => (call.lastByteAgeMs ?? call.ageMs ?? 0) >= silentMs)
    .map((call) => {
      const silence = formatDuration(call.lastByteAgeMs ?? call.ageMs ?? 0);
      const what = call.lastByteAgeMs === undefined ? 'had not answered for' : 'had sent nothing more for';
      return {
        kind: 'starvation',
        title: `${modelName(call)} ${what} ${silence} (model call ${call.id})`,
        confidence: 'certain',
        evidence: [
          evidenceOf(
            `Model call ${call.id} was open for ${formatDuration(call.ageMs ?? 0)}, silent for ${silence}.`,
          ),
        ],
        isCauseOfDeath: false,
        runId: run.id,
        ...(call.id === undefined ? {} : { callId: call.id }),
        nextStep:
          'Give model calls a time limit between bytes, not only for the whole, and try again when it passes.',
      };
    });
}

function lockWaits(run: AgentRun): AgentFailure[] {
  return (run.waits ?? [])
    .filter(({ kind, ageMs }) => kind === 'lock' && ageMs >= lockedMs)
    .map(({ what, ageMs, heldBy }) => ({
      kind: 'starvation',
      title: `the lock ${what} was not given for ${formatDuration(ageMs)}${heldBy ? `; ${heldBy} holds it` : ''}`,
      confidence: 'certain',
      evidence: [evidenceOf(`A wait for lock ${what} was open for ${formatDuration(ageMs)}.`)],
      isCauseOfDeath: false,
      runId: run.id,
    }));
}

/** As whoever finds loops says it. */
interface Loop {
  runId: string;
  sentence: string;
  ongoing: boolean;
}

export const loops: FailureRule = ({ agent }) =>
  ((agent as AgentState & { loops?: readonly Loop[] }).loops ?? [])
    .filter(({ ongoing }) => ongoing)
    .map(({ runId, sentence }) => ({
      kind: 'loop',
      title: `the agent went in a circle: ${sentence}`,
      confidence: 'certain',
      evidence: [evidenceOf(`${sentence}.`)],
      isCauseOfDeath: false,
      runId,
      nextStep: 'Limit the turns of a run, and tell the model when a call repeats with the same result.',
    }));
