/** A tool that failed last, or whose error is what the process died of: then its promise is the one that was rejected. */
import type { AgentError, AgentFailure, AgentRun, ToolCall } from '../../../model/agent-state.ts';
import { clip } from '../../../model/quantities.ts';
import { errorText, evidenceOf, type FailureInput, type FailureRule, isInError } from './failure-input.ts';

export const toolFailures: FailureRule = (input) =>
  input.agent.runs.flatMap((run) => {
    const failed = run.toolCalls.filter((tool) => tool.status === 'failed');
    const cause = failed.findLast((tool) => isInError(input.error, messageOf(tool)));
    const last = run.toolCalls.at(-1);
    const isLast = last?.status === 'failed' && !wasAnswered(run, last);
    const tool = cause ?? (isLast ? last : undefined) ?? toolOfDeath(run, input);
    return tool ? [describe(run, tool, cause === tool || tool.status !== 'failed')] : [];
  });

/** The code that died ran on behalf of a tool: one that had not ended, or what one had left behind. */
function toolOfDeath(run: AgentRun, { agent, error }: FailureInput): ToolCall | undefined {
  const { diedIn } = agent;
  if (!error || diedIn?.from !== 'context' || diedIn.toolId === undefined) return undefined;
  return run.toolCalls.find((tool) => tool.eventId === diedIn.toolId && tool.status !== 'failed');
}

/** The model was told of it and went on. */
function wasAnswered(run: AgentRun, tool: ToolCall): boolean {
  const endedAt = Date.parse(tool.startedAt ?? '') + (tool.durationMs ?? 0);
  return run.modelCalls.some(({ startedAt }) => Date.parse(startedAt ?? '') >= endedAt);
}

function describe(run: AgentRun, tool: ToolCall, isCauseOfDeath: boolean): AgentFailure {
  const given = clip(
    typeof tool.arguments === 'string' ? tool.arguments : (JSON.stringify(tool.arguments) ?? ''),
    160,
  );
  const message = messageOf(tool);
  const hadReturned = tool.status === 'finished';
  return {
    kind: 'tool-error',
    title: isCauseOfDeath
      ? `the error came out of ${hadReturned ? 'a promise that ' : ''}tool ${tool.name} (${tool.id})${hadReturned ? ' had left behind' : ''}, and nothing caught it`
      : `tool ${tool.name} (${tool.id}) failed, and the model was not told`,
    confidence: 'certain',
    evidence: [
      evidenceOf(
        message === undefined
          ? `Tool ${tool.name}(${given}) ${hadReturned ? 'had returned' : 'was running'}.`
          : `Tool ${tool.name}(${given}) failed: ${errorText(tool.error as AgentError)}`,
      ),
    ],
    isCauseOfDeath,
    runId: run.id,
    callId: tool.id,
    nextStep: hadReturned
      ? `Await every promise that ${tool.name} starts before it returns, or catch its rejection.`
      : `Catch what ${tool.name} throws where it is called, and give it to the model as the tool's result.`,
  };
}

function messageOf({ error }: ToolCall): string | undefined {
  if (typeof error === 'string') return error;
  const message = (error as { message?: unknown } | undefined)?.message;
  return typeof message === 'string' ? message : undefined;
}
