/**
 * A tool that failed last, or whose error the process died of. The link is the error object itself, the asynchronous context
 * of the code that died, or, if neither is known, an equal message, which proves nothing.
 */
import type { AgentError, AgentFailure, AgentRun, ToolCall } from '../../../model/agent-state.ts';
import { clip } from '../../../model/quantities.ts';
import {
  causeBy,
  errorText,
  evidenceOf,
  type FailureInput,
  type FailureRule,
  isInError,
} from './failure-input.ts';

/** How the error is linked to the tool. */
type Tie = 'error' | 'cause' | 'running' | 'left' | 'words' | 'none';

export const toolFailures: FailureRule = (input) =>
  input.agent.runs.flatMap((run) => {
    const tied = byObject(run, input) ?? byContext(run, input) ?? byWords(run, input) ?? byOrder(run);
    return tied ? [describe(run, tied.tool, tied.tie, tied.alike ?? 1)] : [];
  });

interface Tied {
  tool: ToolCall;
  tie: Tie;
  /** How many calls had failed with the same message. */
  alike?: number;
}

function byObject(run: AgentRun, { agent }: FailureInput): Tied | undefined {
  for (const { id, as } of agent.diedOf ?? []) {
    const tool = run.toolCalls.find(({ eventId }) => eventId === id);
    if (tool) return { tool, tie: as };
  }
  return undefined;
}

/** The code that died ran on behalf of a tool that was still running, or that had returned and left work behind. */
function byContext(run: AgentRun, { agent, error }: FailureInput): Tied | undefined {
  const { diedIn } = agent;
  if (!error || diedIn?.from !== 'context' || diedIn.toolId === undefined) return undefined;
  const tool = run.toolCalls.find(({ eventId }) => eventId === diedIn.toolId);
  if (!tool) return undefined;
  // A thrown string has no object identity.
  if (tool.status === 'failed' && isInError(error, messageOf(tool))) return { tool, tie: 'error' };
  return { tool, tie: tool.status === 'running' ? 'running' : 'left' };
}

function byWords(run: AgentRun, input: FailureInput): Tied | undefined {
  const { diedIn } = input.agent;
  if (diedIn?.from === 'context' && diedIn.toolId !== undefined) return undefined;
  const alike = run.toolCalls.filter(
    (tool) => tool.status === 'failed' && isInError(input.error, messageOf(tool)),
  );
  const tool = alike.at(-1);
  const isPresumed = causeBy(input, tool?.eventId, true).isCauseOfDeath;
  return tool && isPresumed ? { tool, tie: 'words', alike: alike.length } : undefined;
}

function byOrder(run: AgentRun): Tied | undefined {
  const last = run.toolCalls.at(-1);
  return last?.status === 'failed' && !wasAnswered(run, last) ? { tool: last, tie: 'none' } : undefined;
}

/** The model was called again after the failure. */
function wasAnswered(run: AgentRun, tool: ToolCall): boolean {
  const endedAt = Date.parse(tool.startedAt ?? '') + (tool.durationMs ?? 0);
  return run.modelCalls.some(({ startedAt }) => Date.parse(startedAt ?? '') >= endedAt);
}

function describe(run: AgentRun, tool: ToolCall, tie: Tie, alike: number): AgentFailure {
  const given = clip(
    typeof tool.arguments === 'string' ? tool.arguments : (JSON.stringify(tool.arguments) ?? ''),
    160,
  );
  const message = messageOf(tool);
  return {
    kind: 'tool-error',
    title: titleOf(`tool ${tool.name} (${tool.id})`, tie, alike),
    confidence: 'certain',
    evidence: [
      evidenceOf(
        message === undefined
          ? `Tool ${tool.name}(${given}) ${tool.status === 'running' ? 'was running' : 'had returned'}.`
          : `Tool ${tool.name}(${given}) failed: ${errorText(tool.error as AgentError)}`,
      ),
    ],
    isCauseOfDeath: tie !== 'none',
    ...(tie !== 'none' && { causeConfidence: tie === 'words' ? 'likely' : 'certain' }),
    runId: run.id,
    callId: tool.id,
    nextStep:
      tie === 'left'
        ? `Await everything that ${tool.name} starts before it returns, or handle its errors there.`
        : `Catch what ${tool.name} throws where it is called, and give it to the model as the tool's result.`,
  };
}

function titleOf(name: string, tie: Tie, alike: number): string {
  switch (tie) {
    case 'error':
      return `the error was thrown by ${name}`;
    case 'cause':
      return `the error was caused by one that ${name} threw`;
    case 'running':
      return `the error came from ${name}, which was running`;
    case 'left':
      return `the error came from work that ${name} had left behind`;
    case 'words':
      return alike === 1
        ? `${name} had failed with the same message`
        : `${alike} tool calls had failed with the same message, the last of them ${name}`;
    case 'none':
      return `${name} failed, and no model call was seen after it`;
  }
}

function messageOf({ error }: ToolCall): string | undefined {
  if (typeof error === 'string') return error;
  const message = (error as { message?: unknown } | undefined)?.message;
  return typeof message === 'string' ? message : undefined;
}
