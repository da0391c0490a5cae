/** An agent's past for people at a terminal: when an expression first held, and what changed between two points. */
import type { PointDiff, RunDiff, ValueChange, WhereAnswer } from '../../model/agent-points.ts';
import { nameOfRun } from '../../model/agent-state.ts';
import { clip, formatCount, formatDuration, formatNumber } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { plainPalette } from '../palette.ts';
import type { TextOptions } from '../text.ts';
import { timelineRows } from './agent-timeline.ts';
import { oneLine, type Page, section } from './layout.ts';
import { messageText } from './message-text.ts';
import { compact } from './value.ts';

const maxRows = 60;
const maxTextChars = 400;

const pageOf = (options: TextOptions): Page => ({
  palette: options.palette ?? plainPalette,
  columns: options.columns ?? 100,
});

export function renderWhere(answer: WhereAnswer, options: TextOptions = {}): string {
  const page = pageOf(options);
  const safe = mapStrings(answer, escapeTerminal);
  const { found, expression, mutations, failed, fault } = safe;
  const unknown = failed
    ? `; it had no answer after ${formatNumber(failed)} of them${fault ? ` (${fault})` : ''}`
    : '';
  if (!found)
    return finish([
      `Never: after none of ${formatCount(mutations, 'change')} ${oneLine(expression)}${unknown}.`,
    ]);
  const within = [found.runName, found.stepId, found.toolId].filter(Boolean).join(', ');
  return finish([
    page.palette.strong(`First after event ${found.seq}: ${oneLine(expression)}`),
    `  ${oneLine(found.at)}, ${formatDuration(found.beforeEndMs)} before the end, in ${oneLine(within)}`,
    ...found.changes.map((change) => `  ${changeText(change, page)}`),
    page.palette.faint(
      `  ${formatCount(mutations, 'change')} looked at${unknown}; --at ${found.seq} shows all as it stood`,
    ),
  ]);
}

export function renderPointDiff(diff: PointDiff, options: TextOptions = {}): string {
  const page = pageOf(options);
  const safe = mapStrings(diff, escapeTerminal);
  const span = Date.parse(safe.to.at) - Date.parse(safe.from.at);
  const lasted = safe.from.seq === 0 ? '' : `, ${formatDuration(span)}`;
  const head = `From event ${safe.from.seq} to event ${safe.to.seq}${lasted}`;
  const lines = safe.runs.flatMap((run) => ['', ...renderRunDiff(run, Date.parse(safe.to.at), page)]);
  return finish([page.palette.strong(head), ...(lines.length ? lines : ['  nothing changed'])]);
}

function renderRunDiff(run: RunDiff, endedAt: number, page: Page): string[] {
  const { palette } = page;
  const { steps, modelCalls, toolCalls, messages, plan } = run;
  const status = run.isNew ? 'began' : run.status ? `${run.status.before} → ${run.status.after}` : '';
  const tokens =
    run.inputTokens || run.outputTokens
      ? `, ${formatNumber(run.inputTokens)} tokens in, ${formatNumber(run.outputTokens)} out`
      : '';
  const said = messages.map(
    ({ role, content }) =>
      `${palette.strong(oneLine(role))}  ${clip(oneLine(messageText(content)), maxTextChars)}`,
  );
  return [
    `${palette.strong(oneLine(nameOfRun(run)))}${status && ` ${status}`}${palette.faint(tokens)}`,
    ...timelineRows({ steps, modelCalls, toolCalls }, endedAt, page),
    ...section(
      page,
      'State',
      cut(
        run.state.map((change) => changeText(change, page)),
        page,
      ),
    ),
    ...section(
      page,
      'Plan',
      plan ? [`${compact(plan.before ?? '(none)')} → ${compact(plan.after ?? '(none)')}`] : [],
    ),
    ...section(page, 'Said', cut(said, page)),
  ];
}

function changeText({ op, path, before, after }: ValueChange, { palette, columns }: Page): string {
  const name = oneLine(path) || '(all)';
  const show = (value: unknown) =>
    value === undefined ? '' : clip(compact(value), Math.max(20, columns - 20));
  if (op === 'add' && before === undefined) return `${palette.good('+')} ${name}  ${show(after)}`;
  if (op === 'remove') return `${palette.bad('-')} ${name}  ${show(before)}`;
  return `${palette.warn('~')} ${name}  ${show(before)} → ${show(after)}`;
}

function cut(lines: string[], page: Page): string[] {
  const hidden = lines.length - maxRows;
  return hidden > 0
    ? [...lines.slice(0, maxRows), page.palette.faint(`… ${formatNumber(hidden)} more, see --json`)]
    : lines;
}

function finish(lines: readonly string[]): string {
  return `${defuseWorkflowCommands(lines.join('\n').trimEnd())}\n`;
}
