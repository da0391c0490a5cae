/** What the agent was doing: runs with what was in flight first, then what the host program provided. */

import type { Account } from '../../model/account.ts';
import {
  type AgentRun,
  type ConversationCandidate,
  idsOfRun,
  nameOfRun,
  type ToolCall,
} from '../../model/agent-state.ts';
import { modelCallText } from '../../model/model-call-text.ts';
import { formatCount, formatDuration, formatNumber } from '../../model/quantities.ts';
import { toolStateText } from '../../model/tool-text.ts';
import { foldLines } from './fit.ts';
import { oneLine, type Page, wrap } from './layout.ts';
import { compact, renderConversation, renderValue } from './value.ts';

const maxRows = 12;
const maxValueLines = 20;

export function renderAgent({ agent }: Account, page: Page): string[] {
  if (!agent) return [];
  const lines = agent.runs.slice(-5).flatMap((run) => [...renderRun(run, page), '']);
  if (agent.runs.length > 5)
    lines.push(page.palette.faint(`… ${formatCount(agent.runs.length - 5, 'earlier run')}`), '');
  for (const candidate of agent.candidates ?? []) lines.push(...renderCandidate(candidate, page), '');
  if (Object.keys(agent.state ?? {}).length)
    lines.push(...foldLines(renderValue(agent.state, page, 2), 2 * maxValueLines));
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Marked as inferred, because it was not recorded. */
function renderCandidate({ path, messages, shown = [] }: ConversationCandidate, page: Page): string[] {
  return [
    `${page.palette.warn('inferred')} ${formatCount(messages, 'object')} in the shape of messages at ${oneLine(path)}`,
    ...renderConversation(shown, page).map((line) => `  ${line}`),
  ];
}

/** The ids that show whose run it is. */
export function idLines(run: AgentRun, page: Page): string[] {
  const ids = idsOfRun(run);
  return ids ? wrap(oneLine(ids), page.columns - 2, '  ').map(page.palette.faint) : [];
}

function renderRun(run: AgentRun, page: Page): string[] {
  const { palette } = page;
  const usage = run.usage
    ? `, ${formatNumber(run.usage.inputTokens ?? 0)} tokens in, ${formatNumber(run.usage.outputTokens ?? 0)} out`
    : '';
  return [
    `${palette.strong(oneLine(nameOfRun(run)))} ${run.status}${palette.faint(
      `, ${formatCount(run.steps.length, 'step')}, ${formatCount(run.modelCalls.length, 'model call')}, ${formatCount(run.toolCalls.length, 'tool call')}${usage}`,
    )}`,
    ...idLines(run, page),
    ...run.pending.slice(0, maxRows).map((what) => `  ${palette.bad('not ended')} ${oneLine(what)}`),
    ...(run.requested ?? [])
      .slice(0, maxRows)
      .map((what) => `  ${palette.warn('requested')} ${oneLine(what)}`),
    ...run.steps
      .slice(-maxRows)
      .map(
        (step) =>
          `  ${palette.faint('step')} ${oneLine(step.name ?? step.id)} ${oneLine(step.status)}${step.durationMs === undefined ? '' : palette.faint(` ${formatDuration(step.durationMs)}`)}`,
      ),
    ...run.toolCalls.slice(-maxRows).map((call) => toolCallLine(call, page)),
    ...run.modelCalls
      .slice(-maxRows)
      .map((call) => `  ${palette.faint('model')} ${oneLine(modelCallText(call))}`),
    ...(run.messages.length ? renderConversation(run.messages, page).map((line) => `  ${line}`) : []),
    ...(run.plan === undefined
      ? []
      : underName('plan', foldLines(renderValue(run.plan, page, 3), maxValueLines), page)),
    ...(run.state === undefined
      ? []
      : foldLines(renderValue(run.state, page, 3), maxValueLines).map((line) => `  ${line}`)),
  ];
}

function underName(name: string, lines: readonly string[], { palette }: Page): string[] {
  return [`  ${palette.faint(`${name}:`)}`, ...lines.map((line) => `    ${line}`)];
}

function toolCallLine(call: ToolCall, { palette }: Page): string {
  const outcome = call.error ?? call.result;
  const shown = outcome === undefined ? '' : palette.faint(` → ${compact(outcome)}`);
  return `  ${palette.faint('tool')} ${palette.strong(oneLine(call.name))}(${compact(call.arguments)}) ${oneLine(toolStateText(call))}${shown}`;
}
