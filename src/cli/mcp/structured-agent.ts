/** An agent's work as data: runs with steps and calls, a page of the conversation, the change that was asked for. */
import type { ValueChange, WhereAnswer } from '../../model/agent-points.ts';
import { type AgentError, type AgentRun, type AgentState, nameOfRun } from '../../model/agent-state.ts';
import { clip } from '../../model/quantities.ts';
import { answerOf, flag, integer, listOf, number, record, text } from './output-schema.ts';

const times = { startedAt: text, durationMs: number, openForMs: number };
const id = record({ name: text, value: text });

export const timelineSchema = answerOf(
  {
    runs: listOf(
      record(
        {
          id: text,
          name: text,
          status: text,
          notEnded: listOf(text),
          requested: listOf(text),
          steps: listOf(record({ id: text, status: text }, { name: text, error: text, ...times })),
          modelCalls: listOf(
            record(
              { status: text },
              {
                ...{
                  id: text,
                  provider: text,
                  model: text,
                  httpStatus: integer,
                  finishReason: text,
                  error: text,
                },
                ...{ inputTokens: integer, outputTokens: integer, ...times },
              },
            ),
          ),
          toolCalls: listOf(
            record(
              { id: text, name: text, status: text },
              { because: text, arguments: text, result: text, error: text, ...times },
            ),
          ),
        },
        { parentId: text, ids: listOf(id), startedAt: text, durationMs: number, error: text },
      ),
    ),
  },
  { endedAt: text, agesAreMinima: flag },
);

export const conversationSchema = answerOf(
  {
    total: integer,
    first: integer,
    messages: listOf(record({ index: integer, role: text, content: text })),
  },
  { run: text, next: integer, unknownBefore: integer, cutByDeath: text },
);

const change = record({ op: text, path: text }, { before: text, after: text });

export const whereSchema = answerOf(
  { expression: text, changesLookedAt: integer, withoutAnswer: integer },
  {
    fault: text,
    found: record(
      { event: integer, at: text, beforeEndMs: number, kind: text, run: text, changes: listOf(change) },
      { stepId: text, toolId: text },
    ),
  },
);

const mostOfAKind = 50;
const longestValue = 500;

export function structuredTimeline({ runs, endedAt, agesAreMinima }: AgentState): object {
  return { endedAt, agesAreMinima, runs: runs.map(runOf) };
}

/** The last ones if there are many steps and calls, because questions are about the end. */
function runOf(run: AgentRun): object {
  return {
    id: run.id,
    name: nameOfRun(run),
    status: run.status,
    parentId: run.parentId,
    ids: run.ids && Object.entries(run.ids).map(([name, value]) => ({ name, value })),
    startedAt: run.startedAt,
    durationMs: run.durationMs,
    error: errorText(run.error),
    notEnded: run.pending,
    requested: run.requested ?? [],
    steps: run.steps.slice(-mostOfAKind).map((step) => ({
      id: step.id,
      name: step.name,
      status: step.status,
      error: errorText(step.error),
      ...timesOf(step),
    })),
    modelCalls: run.modelCalls.slice(-mostOfAKind).map((call) => ({
      id: call.id,
      provider: call.provider,
      model: call.model,
      status: call.status,
      httpStatus: call.httpStatus,
      finishReason: call.finishReasons?.join(', '),
      error: errorText(call.error),
      inputTokens: call.inputTokens,
      outputTokens: call.outputTokens,
      ...timesOf(call),
    })),
    toolCalls: run.toolCalls.slice(-mostOfAKind).map((call) => ({
      id: call.id,
      name: call.name,
      status: call.status,
      because: call.because,
      arguments: valueText(call.arguments),
      result: valueText(call.result),
      error: valueText(call.error),
      ...timesOf(call),
    })),
  };
}

interface Timed {
  startedAt?: string;
  durationMs?: number;
  ageMs?: number;
}

const timesOf = ({ startedAt, durationMs, ageMs }: Timed) => ({ startedAt, durationMs, openForMs: ageMs });

const errorText = (error: AgentError | undefined): string | undefined =>
  error && [error.type, error.message].filter(Boolean).join(': ');

function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return clip(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), longestValue);
}

export function structuredWhere({ expression, mutations, failed, fault, found }: WhereAnswer): object {
  return {
    expression,
    changesLookedAt: mutations,
    withoutAnswer: failed,
    fault,
    found: found && {
      event: found.seq,
      at: found.at,
      beforeEndMs: found.beforeEndMs,
      kind: found.kind,
      run: found.runName,
      stepId: found.stepId,
      toolId: found.toolId,
      changes: found.changes.map(changeOf),
    },
  };
}

const changeOf = ({ op, path, before, after }: ValueChange) => ({
  op,
  path,
  before: valueText(before),
  after: valueText(after),
});
