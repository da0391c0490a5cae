/** Events around the agent that did not end it: children, errors that the host handled, warnings, the ends of logs. */

import type { Account, ChildFacts, ProcessEvents } from '../../model/account.ts';
import { childText, endedBadly } from '../../model/process-events/child-text.ts';
import { readableLine, saidLines } from '../../model/process-events/printed-lines.ts';
import { clip, firstLine, formatCount, formatNumber } from '../../model/quantities.ts';
import { oneLine, type Page, wrap } from './layout.ts';

const maxRows = 6;
const maxLogLines = 12;
const maxStderrLines = 4;

/** After a snapshot the process continues. */
export function beforeEndHeading({ verdict }: Account): string {
  return verdict?.kind === 'snapshot' || verdict?.kind === 'no-progress'
    ? 'Before this moment'
    : 'Before the end';
}

export function renderProcessEvents({ happenings }: Account, page: Page): string[] {
  if (!happenings) return [];
  const { parent } = happenings;
  return [
    ...renderChildren(happenings.children ?? [], page),
    ...renderList(happenings.handled ?? [], 'handled', page),
    ...renderList(happenings.warnings ?? [], 'warning', page),
    ...(happenings.peaks ?? []).slice(-1).map((peak) => peakText(peak, page)),
    ...joinStreams(happenings.logs ?? []).flatMap((log) => renderLog(log, page)),
    ...(parent?.bundle
      ? wrap(`the parent, ${parent.pid}, left ${parent.bundle.name}`, page.columns - 2)
      : []),
    ...(parent?.recorderId
      ? [page.palette.faint(`the parent, ${parent.pid}, keeps the flight recorder ${parent.recorderId}`)]
      : []),
  ];
}

/** Those that ended badly, then those that were still running; successful ones are not shown. */
function renderChildren(children: readonly ChildFacts[], page: Page): string[] {
  const { palette } = page;
  const bad = children.filter(endedBadly).slice(-maxRows);
  const others = children
    .filter((child) => !endedBadly(child) && child.exitCode === undefined)
    .slice(-maxRows);
  return [
    ...bad.flatMap((child) => [
      `${palette.bad('child')} ${oneLine(childText(child))}`,
      ...linesOf(child.stderrTail ?? '', maxStderrLines, page).map((line) => palette.faint(`  ${line}`)),
      ...(child.bundle ? [`  its own bundle: ${oneLine(child.bundle.name)}`] : []),
    ]),
    ...others.map((child) => `${palette.faint('child')} ${oneLine(childText(child))}`),
  ];
}

interface Told {
  name?: string;
  message: string;
  code?: string;
}

/** Repetitions of a text are one row. */
function renderList(list: readonly Told[], word: string, { palette, columns }: Page): string[] {
  const counts = new Map<string, number>();
  for (const { name, message, code } of list) {
    const text = oneLine(firstLine(`${name ? `${name}: ` : ''}${code ? `[${code}] ` : ''}${message}`));
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].slice(-maxRows).map(([text, count]) => {
    const times = count > 1 ? ` × ${count}` : '';
    return `${palette.faint(word)} ${clip(text, Math.max(40, columns - 14 - times.length))}${times}`;
  });
}

function peakText(
  { resource, value, limit }: NonNullable<ProcessEvents['peaks']>[number],
  { palette }: Page,
): string {
  const of = limit === undefined ? '' : ` of ${formatNumber(limit)}`;
  return `${palette.faint('peak')} ${formatNumber(value)}${of} ${oneLine(resource)}`;
}

type Log = NonNullable<ProcessEvents['logs']>[number];

/** Streams that went to the same file (`> out.txt 2>&1`) end with the same lines, whichever wrote them. */
function joinStreams(logs: readonly Log[]): Log[] {
  const joined: Log[] = [];
  for (const log of logs) {
    const at = joined.findIndex(
      ({ target, text }) => target !== undefined && target === log.target && text === log.text,
    );
    const same = joined[at];
    if (same) joined[at] = { ...same, stream: `${same.stream} and ${log.stream}` };
    else joined.push(log);
  }
  return joined;
}

function renderLog({ stream, text, target }: Log, page: Page): string[] {
  const { palette } = page;
  const went = target === undefined ? '' : ` went to ${oneLine(target)}`;
  const lines = linesOf(text, maxLogLines, page);
  if (!lines.length) return went ? [palette.faint(`${stream}${went}`)] : [];
  return [
    palette.faint(
      `${stream}${went}, its last ${lines.length === 1 ? 'line' : formatCount(lines.length, 'line')}`,
    ),
    ...lines.map((line) => `  ${line}`),
  ];
}

function linesOf(text: string, most: number, { columns }: Page): string[] {
  return saidLines(text)
    .slice(-most)
    .map((line) => clip(oneLine(readableLine(line)), Math.max(40, columns - 6)));
}
