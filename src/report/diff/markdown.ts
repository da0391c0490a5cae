/**
 * A difference as one page of Markdown: for an issue, or a job's summary. Nothing in it can create markup, links or mentions.
 */
import type { BundleDiff, ConversationFork, DiffChange, DiffSide } from '../../model/diff.ts';
import { formatCount } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { codeBlock, codeSpan, escapeMarkdown } from '../markdown/escape-markdown.ts';
import { changeLine, changesBySection, sectionTitles } from './lines.ts';

const maxRows = 100;

export function renderDiffMarkdown(diff: BundleDiff): string {
  const safe = mapStrings(diff, escapeTerminal);
  const blocks = [
    headline(safe),
    safe.leads.map(({ fact }) => `- ${escapeMarkdown(fact)}`),
    ...changesBySection(safe).map(([name, changes]) => [`### ${sectionTitles[name]}`, '', ...table(changes)]),
    fork(safe.fork),
    safe.notCompared.map(
      ({ section, reason }) => `- Not compared: ${sectionTitles[section]}, ${escapeMarkdown(reason)}`,
    ),
  ];
  const lines = blocks.filter((block) => block.length).flatMap((block) => [...block, '']);
  return defuseWorkflowCommands(lines.join('\n'));
}

function headline({ sameSignature, changes, before, after }: BundleDiff): string[] {
  const same = sameSignature === undefined ? '' : sameSignature ? 'The same death, ' : 'Another death, ';
  const sides = [...before.slice(0, 3).map(sideLine('before')), sideLine('after')(after)];
  return [`## ${same}${formatCount(changes.length, 'difference')}`, '', ...sides];
}

const sideLine =
  (name: string) =>
  ({ id, verdict, title }: DiffSide) =>
    `- ${name}: ${codeSpan(id)} ${verdict ? codeSpan(verdict) : ''} ${escapeMarkdown(title ?? '')}`;

function table(changes: readonly DiffChange[]): string[] {
  const rows = changes.slice(0, maxRows).map(changeLine);
  const hidden = changes.length - rows.length;
  return [
    '| | what | before → after |',
    '|---|---|---|',
    ...rows.map(({ mark, subject, values }) => `| ${mark} | ${codeSpan(subject)} | ${codeSpan(values)} |`),
    ...(hidden > 0 ? ['', formatCount(hidden, 'more difference')] : []),
  ];
}

function fork(found: ConversationFork | undefined): string[] {
  if (!found) return [];
  const said = (message: ConversationFork['before']) =>
    message ? `${message.role}: ${message.text}`.split('\n') : ['(the conversation ends here)'];
  return [
    '### Conversation',
    '',
    `${formatCount(found.index, 'message')} alike, then before:`,
    '',
    ...codeBlock(said(found.before)),
    '',
    'and after:',
    '',
    ...codeBlock(said(found.after)),
  ];
}
