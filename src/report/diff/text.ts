/**
 * A difference for people at a terminal: whether it is the same death, the important changes, then all of them by section.
 */
import type { BundleDiff, ConversationFork, DiffChange, DiffSide } from '../../model/diff.ts';
import { clip, formatCount } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { plainPalette } from '../palette.ts';
import { oneLine, type Page, section, wrap } from '../text/layout.ts';
import type { TextOptions } from '../text.ts';
import { changeLine, changesBySection, sectionTitles } from './lines.ts';

const maxRows = 60;

export function renderDiff(diff: BundleDiff, options: TextOptions = {}): string {
  const page: Page = { palette: options.palette ?? plainPalette, columns: options.columns ?? 100 };
  const safe = mapStrings(diff, escapeTerminal);
  const lines = [
    ...renderHead(safe, page),
    ...section(
      page,
      'What may matter',
      safe.leads.flatMap(({ fact }) => wrap(fact, page.columns - 2, '• ')),
    ),
    ...changesBySection(safe).flatMap(([name, changes]) =>
      section(page, sectionTitles[name], renderChanges(changes, page)),
    ),
    ...section(page, 'Conversation', safe.fork ? renderFork(safe.fork, page) : []),
    ...section(page, 'Not compared', renderUnknown(safe, page)),
  ];
  return `${defuseWorkflowCommands(lines.join('\n').trimEnd())}\n`;
}

function renderHead(diff: BundleDiff, page: Page): string[] {
  const { palette } = page;
  const [first] = diff.before;
  const others = diff.before.length > 1 ? ` and ${formatCount(diff.before.length - 1, 'more bundle')}` : '';
  const alike = diff.alike.map((name) => sectionTitles[name].toLowerCase()).join(', ');
  return [
    palette.strong(headline(diff)),
    `  ${palette.faint('before')}  ${first ? sideText(first, page) : ''}${others}`,
    `  ${palette.faint('after ')}  ${sideText(diff.after, page)}`,
    ...(alike ? wrap(`Alike: ${alike}.`, page.columns - 2).map((line) => `  ${palette.faint(line)}`) : []),
  ];
}

function headline({ sameSignature, changes }: BundleDiff): string {
  const count = changes.length ? formatCount(changes.length, 'difference') : 'no differences';
  if (sameSignature === undefined) return `${count[0]?.toUpperCase()}${count.slice(1)}`;
  return `${sameSignature ? 'The same death' : 'Another death'}, ${count}`;
}

function sideText({ id, capturedAt, title, verdict }: DiffSide, { columns }: Page): string {
  const text = [id.slice(0, 8), capturedAt, title ?? verdict].filter(Boolean).join('  ');
  return clip(oneLine(text), Math.max(40, columns) - 10);
}

function renderChanges(changes: readonly DiffChange[], page: Page): string[] {
  const { palette } = page;
  const rows = changes.slice(0, maxRows).map(changeLine);
  const width = Math.min(32, Math.max(0, ...rows.map(({ subject }) => subject.length)));
  const lines = rows.map(({ mark, subject, values }) => {
    const paint = mark === '-' ? palette.bad : mark === '+' ? palette.good : palette.warn;
    return `${paint(mark)} ${clip(subject, page.columns).padEnd(width)}  ${values}`.trimEnd();
  });
  const hidden = changes.length - rows.length;
  return hidden > 0
    ? [...lines, palette.faint(`… ${formatCount(hidden, 'more difference')}, see --json`)]
    : lines;
}

function renderFork({ index, before, after }: ConversationFork, page: Page): string[] {
  const said = (mark: string, message: ConversationFork['before']) =>
    message
      ? wrap(`${message.role}: ${message.text}`, page.columns - 4, `${mark} `)
      : [`${mark} (the conversation ends here)`];
  return [
    page.palette.faint(`${formatCount(index, 'message')} alike, then:`),
    ...said('-', before),
    ...said('+', after),
  ];
}

function renderUnknown({ notCompared, gaps }: BundleDiff, page: Page): string[] {
  const lines = notCompared.map(({ section: name, reason }) => `${sectionTitles[name]}: ${reason}`);
  if (gaps.length)
    lines.push(`${formatCount(gaps.length, 'gap')} in the bundles: see --json, or analyze each`);
  return lines.flatMap((line) => wrap(line, page.columns - 2, '- ')).map(page.palette.faint);
}
