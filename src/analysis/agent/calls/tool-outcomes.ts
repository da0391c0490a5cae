/**
 * Settles requested tool calls that never ran, if their outcome is known: the run ended at its own limit, a person or a rule
 * refused the call, or its arguments could not be parsed. All others stay `requested`.
 */
import type { ErrorFacts } from '../../../model/account.ts';
import type { AgentRun, AgentState, ModelCall, ToolCall } from '../../../model/agent-state.ts';
import { onOneLine, shorten } from '../../../model/errors/message-text.ts';
import { clip, firstLine } from '../../../model/quantities.ts';
import { everyError } from '../../verdict/wording.ts';
import { findRequested } from '../waits/pending.ts';

/** How frameworks report that a run reached its limit of turns: by class, code or message. */
const limitName = /^(MaxTurns|GraphRecursion|MaxSteps|MaxIterations|RecursionLimit|TooManySteps)\w*Error$/;
const limitCode = 'GRAPH_RECURSION_LIMIT';
const limitMessage =
  /\bmax(?:imum)?\b[^.\n]{0,30}\b(?:turns|steps|iterations|rounds)\b|\b(?:turn|step|iteration|recursion|round)s? limit\b|\blimit of \d+ (?:turns|steps|iterations|rounds)\b/i;

/** The result that a framework returns for a call that a person or a rule refused. */
const refusal =
  /^(?:Tool execution was not approved\.?|Tool call was rejected\b.*|.*\bexecution-denied\b.*|.*\btool-output-denied\b.*)$/i;

export function settleToolCalls(agent: AgentState, error: ErrorFacts | undefined): void {
  const limit = everyError(error).find(isLimit);
  const died = runThatDied(agent);
  for (const run of agent.runs) {
    for (const tool of run.toolCalls) {
      const asking = run.modelCalls.find(({ id }) => id !== undefined && id === tool.requestedBy);
      settle(tool, asking, run === died ? limit : undefined);
    }
    const requested = findRequested(run);
    if (requested.length) run.requested = requested;
    else delete run.requested;
  }
  if (limit && died) closeAtLimit(died, limit);
}

/** The run that ended with the error, or in whose context it was thrown; otherwise the only run. */
function runThatDied({ runs, diedOf, diedIn }: AgentState): AgentRun | undefined {
  const known = diedIn?.from === 'context' ? diedIn.runId : undefined;
  return (
    runs.find(({ id }) => diedOf?.some((owner) => owner.id === id)) ??
    runs.find(({ id }) => id === known) ??
    (runs.length === 1 ? runs[0] : undefined)
  );
}

function isLimit({ name = '', message = '', code, properties }: ErrorFacts): boolean {
  return (
    limitName.test(name) ||
    code === limitCode ||
    properties?.['lc_error_code'] === limitCode ||
    limitMessage.test(firstLine(message))
  );
}

function settle(tool: ToolCall, asking: ModelCall | undefined, limit: ErrorFacts | undefined): void {
  if (tool.status === 'requested' && limit) {
    tool.status = 'limit';
    tool.because = `the run had reached its limit: ${shorten(onOneLine(limit.message ?? limit.name ?? ''), 120)}`;
  } else if (tool.status === 'requested' && !isReadable(tool.arguments))
    tool.because =
      asking?.status === 'cut' || asking?.status === 'aborted'
        ? `the reply was ${asking.status === 'cut' ? 'cut off' : 'aborted'} in its arguments`
        : 'its arguments are not valid JSON';
  else if ((tool.status === 'finished' || tool.status === 'failed') && refusal.test(textOf(tool))) {
    tool.status = 'refused';
    tool.because = clip(textOf(tool), 160);
  }
}

/** The error ends the run, so a run that died at its limit is no longer waiting. */
function closeAtLimit(run: AgentRun, limit: ErrorFacts): void {
  if (run.status !== 'waiting') return;
  run.status = 'failed';
  run.error ??= {
    ...(limit.name !== undefined && { type: limit.name }),
    message: shorten(onOneLine(limit.message ?? ''), 300),
  };
}

/** Parsed arguments are not strings any more, so a string is checked again. */
function isReadable(given: unknown): boolean {
  if (typeof given !== 'string' || given === '') return true;
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
}

function textOf({ eventId, result, error }: ToolCall): string {
  // A call that was seen to run was not refused, whatever its text says.
  if (eventId !== undefined) return '';
  const said = error ?? result;
  const text = typeof said === 'string' ? said : (JSON.stringify(said) ?? '');
  return firstLine(text.slice(0, 1000));
}
