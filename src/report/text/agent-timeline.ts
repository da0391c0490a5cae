/**
 * The agent's history for people at a terminal: each run as one timeline that counts back from the death, what was open then,
 * and the conversation. Renders the model; every text from the bundle is escaped before the layout.
 */
import {
  type AgentMessage,
  type AgentRun,
  type AgentState,
  type ModelCall,
  nameOfRun,
  type ToolCall,
} from '../../model/agent-state.ts';
import { modelCallText } from '../../model/model-call-text.ts';
import { clip, formatCount, formatDuration, formatNumber } from '../../model/quantities.ts';
import { toolStateText } from '../../model/tool-text.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { type Palette, plainPalette } from '../palette.ts';
import { idLines } from './agent.ts';
import { oneLine, type Page, section, wrap } from './layout.ts';
import { messageText, textOf } from './message-text.ts';
import { renderValue } from './value.ts';

export interface AgentTextOptions {
  palette?: Palette;
  columns?: number;
  /** Messages in full, not their first lines. */
  whole?: boolean;
  /** The state is that of an earlier moment: the number of the last event, absent if there was none yet. */
  moment?: { seq?: number | undefined; beforeEndMs: number };
}

interface Row {
  at: number;
  /** In the syntax of `--at` and `--diff`. */
  id: string;
  text: string;
  isOpen: boolean;
}

const maxRows = 200;
const maxMessages = 40;
/** The outcome of a call follows its arguments, on the same line. */
const maxArgumentChars = 32;

export function renderAgentTimeline(state: AgentState, options: AgentTextOptions = {}): string {
  const page: Page = { palette: options.palette ?? plainPalette, columns: options.columns ?? 100 };
  const safe = mapStrings(state, escapeTerminal);
  const endedAt = Date.parse(safe.endedAt ?? '') || 0;
  const lines = options.moment ? [page.palette.strong(momentText(options.moment)), ''] : [];
  const runs = safe.runs.flatMap((run) => [
    ...renderRun(run, endedAt, page),
    ...section(page, 'Conversation', renderConversation(run, page, options.whole ?? false)),
    ...section(page, 'Plan', run.plan === undefined ? [] : renderValue(run.plan, page)),
    ...section(page, 'State', run.state === undefined ? [] : renderValue(run.state, page)),
    '',
  ]);
  lines.push(...runs, ...section(page, 'What went wrong', renderFailures(safe, page)));
  const open = (safe.openRequests ?? []).map(
    ({ method, host, ageMs }) => `${method} ${host}, sent ${formatDuration(ageMs)} before`,
  );
  lines.push(...section(page, 'Other requests in flight', open));
  return `${defuseWorkflowCommands(lines.join('\n').trimEnd())}\n`;
}

function momentText({ seq, beforeEndMs }: NonNullable<AgentTextOptions['moment']>): string {
  if (seq === undefined) return 'Before the first event';
  return `As it stood after event ${seq}, ${formatDuration(beforeEndMs)} before the end`;
}

function renderRun(run: AgentRun, endedAt: number, page: Page): string[] {
  const { palette } = page;
  return [
    `${palette.strong(oneLine(nameOfRun(run)))} ${run.status}${palette.faint(headFacts(run))}`,
    ...idLines(run, page),
    ...timelineRows(run, endedAt, page),
    ...run.pending.flatMap((what) => wrap(what, page.columns - 12, `${' '.repeat(10)}  not ended  `)),
    ...(run.requested ?? []).flatMap((what) =>
      wrap(what, page.columns - 12, `${' '.repeat(10)}  requested  `),
    ),
  ];
}

export type TimelineWork = Pick<AgentRun, 'steps' | 'modelCalls' | 'toolCalls' | 'notes'>;

/** Steps, calls and notes in the order of their start, counted back from the end. */
export function timelineRows(work: TimelineWork, endedAt: number, page: Page): string[] {
  const { palette } = page;
  const rows = rowsOf(work, page).sort((a, b) => a.at - b.at);
  const hidden = Math.max(0, rows.length - maxRows);
  const idWidth = Math.max(0, ...rows.slice(hidden).map(({ id }) => id.length));
  return [
    ...(hidden ? [palette.faint(`  … ${formatCount(hidden, 'earlier event')}`)] : []),
    ...rows.slice(hidden).map(({ at, id, text, isOpen }) => {
      const before = formatDuration(Math.min(0, at - endedAt)).padStart(10);
      const open = isOpen ? palette.bad('open') : '    ';
      return `${palette.faint(before)}  ${open}  ${palette.faint(id.padEnd(idWidth))}  ${text}`;
    }),
  ];
}

function renderFailures({ failures = [] }: AgentState, page: Page): string[] {
  return failures.flatMap(({ title, evidence }) => [
    ...wrap(title, page.columns - 2, '• '),
    ...evidence.flatMap(({ fact }) => wrap(fact, page.columns - 4, '  - ').map(page.palette.faint)),
  ]);
}

function headFacts(run: AgentRun): string {
  const { usage } = run;
  const tokens = usage
    ? `, ${formatNumber(usage.inputTokens ?? 0)} tokens in, ${formatNumber(usage.outputTokens ?? 0)} out`
    : '';
  const parent = run.parentId === undefined ? '' : `, within ${run.parentId}`;
  const id = run.implicit ? '' : `  ${run.id}`;
  return `${id}${parent}${tokens}${costText(run)}`;
}

/** `, about $0.0123 at list prices of 2026-10-24 (3 of 4 calls, the others' price is unknown)`. */
function costText({ cost, usage }: AgentRun): string {
  if (!cost) return usage ? ', price unknown' : '';
  const part =
    cost.pricedCalls < cost.calls
      ? ` (${cost.pricedCalls} of ${cost.calls} calls, the others' price is unknown)`
      : '';
  const usd = cost.usd >= 1 ? cost.usd.toFixed(2) : cost.usd.toPrecision(2);
  return `, about $${usd} at list prices of ${cost.pricesOf.join(', ')}${part}`;
}

function rowsOf(run: TimelineWork, page: Page): Row[] {
  const rows: Row[] = [];
  const add = (startedAt: string | undefined, id = '', text: string, isOpen: boolean) => {
    const at = Date.parse(startedAt ?? '');
    const room = Math.max(40, page.columns - 22 - id.length);
    if (!Number.isNaN(at)) rows.push({ at, id: oneLine(id), text: clip(oneLine(text), room), isOpen });
  };
  for (const step of run.steps)
    add(step.startedAt, step.id, `step  ${step.name ?? step.id}  ${outcome(step)}`, step.ageMs !== undefined);
  for (const call of run.modelCalls) add(call.startedAt, call.id, modelText(call), call.ageMs !== undefined);
  for (const call of run.toolCalls)
    add(call.startedAt, call.eventId, toolText(call), call.status === 'running');
  for (const note of run.notes ?? []) add(note.at, undefined, `note  ${note.text}`, false);
  return rows;
}

function outcome({ status, durationMs }: { status: string; durationMs?: number }): string {
  return durationMs === undefined ? status : `${status} in ${formatDuration(durationMs)}`;
}

function modelText(call: ModelCall): string {
  const partial = call.partialText ? ` "${call.partialText}"` : '';
  return `model ${modelCallText(call)}${partial}`;
}

function toolText(call: ToolCall): string {
  const result = call.error ?? call.result;
  const shown = result === undefined ? '' : ` → ${textOf(result)}`;
  return `tool  ${call.name}(${clip(textOf(call.arguments), maxArgumentChars)})  ${toolStateText(call)}${shown}`;
}

function renderConversation(run: AgentRun, page: Page, whole: boolean): string[] {
  const { palette } = page;
  const shown = whole ? run.messages : run.messages.slice(-maxMessages);
  const hidden = run.messages.length - shown.length + (run.unknownMessages ?? 0);
  const head = hidden ? [palette.faint(`… ${formatCount(hidden, 'earlier message')}`)] : [];
  const branches = (run.otherConversations ?? []).map(({ lastCall, messages }) =>
    palette.faint(`another conversation of ${formatCount(messages, 'message')} ends with ${lastCall}`),
  );
  const partial = run.modelCalls.findLast((call) => call.partialText !== undefined)?.partialText;
  const cut =
    partial === undefined
      ? []
      : [`${palette.bad('assistant')}  ${oneLine(partial)} ${palette.bad('† cut here')}`];
  return [...head, ...shown.flatMap((message) => renderMessage(message, page, whole)), ...cut, ...branches];
}

function renderMessage({ role, content }: AgentMessage, page: Page, whole: boolean): string[] {
  const label = `${page.palette.strong(oneLine(role))}  `;
  const text = messageText(content);
  if (!whole) return [`${label}${clip(oneLine(text), Math.max(40, page.columns - role.length - 4))}`];
  return [label, ...text.split('\n').map((line) => `  ${line}`)];
}
