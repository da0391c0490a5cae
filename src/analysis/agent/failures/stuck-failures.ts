/** Work that did not end: an unanswered question to a person, a silent provider, a lock, a loop. */

import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentFailure, AgentRun, AgentState } from '../../../model/agent-state.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { clip, formatDuration } from '../../../model/quantities.ts';
import { stepText } from '../../../model/tool-text.ts';
import { evidenceOf, type FailureRule } from './failure-input.ts';

/** Shorter waits are normal for agents. */
const silentMs = 60_000;
const lockedMs = 10_000;

export const pendingApprovals: FailureRule = ({ agent, error }) => [
  ...agent.runs.flatMap(openApprovals),
  ...(isInterrupt(error) ? [thrownInterrupt(agent, error)] : agent.runs.flatMap(interruptedStep)),
];

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

/** Errors that frameworks throw to stop a step and ask a person: LangGraph's GraphInterrupt and NodeInterrupt. */
const isInterrupt = (error: ErrorFacts | undefined) => /Interrupt$/.test(error?.name ?? '');

const resume = 'Read the interrupt from the result of the run, ask the person, and resume with the answer.';

function thrownInterrupt(agent: AgentState, error: ErrorFacts | undefined): AgentFailure {
  const { diedIn, runs } = agent;
  const known = diedIn?.from === 'context' ? diedIn : undefined;
  const run = runs.find(({ id }) => id === known?.runId) ?? (runs.length === 1 ? runs[0] : undefined);
  const step =
    run?.steps.find(({ id }) => agent.diedOf?.some((owner) => owner.id === id)) ??
    run?.steps.find(({ id }) => id === known?.stepId);
  const where = step ? stepText(step.name ?? step.id) : 'the agent';
  return {
    kind: 'approval-pending',
    title: `${where} stopped to ask a person${questionOf(error)}, and nothing caught the interrupt`,
    confidence: 'certain',
    evidence: [
      { fact: `${error?.name} is thrown to stop a graph, not because something failed.`, part: 'error.json' },
    ],
    isCauseOfDeath: true,
    causeConfidence: 'certain',
    runId: run?.id ?? '',
    nextStep:
      'Call interrupt() where the step awaits it, not in a promise of its own; then the run pauses instead of dying.',
  };
}

/** `: "May I?"`, from LangGraph's list of interrupts, which is also the error's message. */
function questionOf(error: ErrorFacts | undefined): string {
  const text = /"value":\s*("(?:[^"\\]|\\.)*")/.exec(error?.message ?? '')?.[1];
  return text === undefined ? '' : `: ${clip(text, 80)}`;
}

function interruptedStep(run: AgentRun): AgentFailure[] {
  const step = run.steps.findLast(({ status }) => status === 'interrupted');
  const last = run.steps.at(-1);
  if (!step || (last !== step && last?.status === 'finished')) return [];
  return [
    {
      kind: 'approval-pending',
      title: `${stepText(step.name ?? step.id)} stopped to ask a person, and no answer was seen`,
      confidence: 'certain',
      evidence: [
        evidenceOf(`Step ${step.name ?? step.id} (${step.id}) was interrupted, and no later step finished.`),
      ],
      isCauseOfDeath: false,
      runId: run.id,
      callId: step.id,
      nextStep: resume,
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

export const loops: FailureRule = ({ agent }) =>
  (agent.loops ?? [])
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
