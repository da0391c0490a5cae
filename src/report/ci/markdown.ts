/** `summary.md`, which is also the job's summary on GitHub and Azure: a table, then a section per bundle. */
import type { CiBundle, CiDifference, CiLeak, CiSummary } from '../../model/ci-summary.ts';
import { formatBytes, formatCount, formatShare } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { codeBlock, codeSpan, escapeMarkdown } from '../markdown/escape-markdown.ts';
import {
  againText,
  bundleTitle,
  countsText,
  handledLateText,
  heapDiffCommand,
  isHandledLate,
  openCommand,
  outcomeText,
  problemsOf,
  testTitle,
  withoutRepeats,
} from './wording.ts';

/** GitHub refuses a step's summary of more than 1 MiB. */
const longestDocument = 900_000;
const mostRows = 100;

/** `folder`: the report's path, relative to the root of the repository. */
export function renderCiMarkdown(given: CiSummary, folder: string): string {
  const summary = mapStrings(given, escapeTerminal);
  const blocks = [
    [`## ${escapeMarkdown(outcomeText(summary))}`, '', escapeMarkdown(countsText(summary))],
    problemTable(summary),
    ...summary.bundles.map((bundle) => bundleSection(bundle, folder)),
    leakSection(summary.leaks ?? [], folder),
    summary.difference ? differenceSection(summary.difference) : [],
    notes(summary),
  ];
  const lines = blocks.filter((lines) => lines.length).flatMap((lines) => [...lines, '']);
  const document = defuseWorkflowCommands(lines.join('\n'));
  if (document.length <= longestDocument) return document;
  const cut = document.lastIndexOf('\n', longestDocument);
  return `${document.slice(0, cut)}\n\nThe rest is in summary.json.\n`;
}

function problemTable(summary: CiSummary): string[] {
  const problems = withoutRepeats(problemsOf(summary));
  if (!problems.length) return [];
  const rows = problems.slice(0, mostRows).map(({ title, test, file, place, bundle, reported }) => {
    const where = place ? `${place.file}:${place.line}` : (file ?? '');
    return [
      test ? escapeMarkdown(test) : '',
      escapeMarkdown(reported === undefined ? title : `${title}; ${reported}`),
      codeSpan(where),
      bundle?.lastModelCall ? codeSpan(bundle.lastModelCall) : '',
      bundle?.lastToolCall ? codeSpan(bundle.lastToolCall) : '',
      bundle ? codeSpan(shortId(bundle)) : '',
    ];
  });
  const more = problems.length - mostRows;
  const heads = ['Test', 'What happened', 'Where', 'Last model call', 'Last tool call', 'Bundle'];
  const isFilled = (column: number): boolean => rows.some((cells) => cells[column] !== '');
  const table = [heads, heads.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.filter((_, column) => isFilled(column)).join(' | ')} |`,
  );
  return [...table, ...(more > 0 ? ['', formatCount(more, 'more row')] : [])];
}

function shortId({ name }: CiBundle): string {
  return /-([0-9a-f]{8})\.agentdump/.exec(name)?.[1] ?? name;
}

function bundleSection(bundle: CiBundle, folder: string): string[] {
  const about = [
    bundle.kind && codeSpan(bundle.kind),
    bundle.confidence,
    bundle.handled && 'handled by the program',
    bundle.aside === 'recovered' && 'it recovered',
    bundle.aside === 'expected' && 'its test passed',
    bundle.seen === 'first' && '**first seen**',
    bundle.seen === 'again' && 'seen before',
    bundle.signature && `signature ${codeSpan(bundle.signature)}`,
    formatBytes(bundle.bytes),
  ];
  const unfinished = (bundle.unfinished ?? []).map((test) => `- ${escapeMarkdown(testTitle(test))}`);
  return [
    `### ${escapeMarkdown(bundleTitle(bundle))}`,
    '',
    ...(bundle.test ? [`Test: **${escapeMarkdown(testTitle(bundle.test))}**`, ''] : []),
    ...(bundle.place ? [`At ${codeSpan(`${bundle.place.file}:${bundle.place.line}`)}`, ''] : []),
    about.filter(Boolean).join(' · '),
    ...(bundle.summary ? ['', escapeMarkdown(bundle.summary)] : []),
    ...(isHandledLate(bundle) ? ['', `Here ${handledLateText}.`] : []),
    ...(bundle.again ? ['', escapeMarkdown(againText(bundle.again))] : []),
    ...(unfinished.length ? ['', 'Not finished beside it:', ...unfinished] : []),
    '',
    ...codeBlock([openCommand(bundle, folder)], 'sh'),
  ];
}

function leakSection(leaks: readonly CiLeak[], folder: string): string[] {
  if (!leaks.length) return [];
  const rows = leaks.flatMap(({ entry, firstBytes, lastBytes, tests, suspects, classes = [], heaps }) => [
    `- ${codeSpan(entry)}: ${formatBytes(firstBytes)} → ${formatBytes(lastBytes)} after collection, over ${formatCount(tests, 'test')} (${formatShare(lastBytes / firstBytes - 1)} more)`,
    ...suspects.map(
      ({ name, path, bytesGrowth }) =>
        `  - ${codeSpan(path)} (${escapeMarkdown(name)}) keeps ${formatBytes(bytesGrowth)} more`,
    ),
    ...(classes.length
      ? [
          `  - more of: ${classes.map(({ name, countGrowth, bytesGrowth }) => `${codeSpan(name)} (+${countGrowth}, ${formatBytes(bytesGrowth)})`).join(', ')}`,
        ]
      : []),
    ...(heaps ? ['', ...codeBlock([heapDiffCommand(heaps, folder)], 'sh')] : []),
  ]);
  return ['### Memory grew', '', ...rows];
}

function differenceSection({ against, signatures, handles, memory }: CiDifference): string[] {
  const lines = [
    ...signatures.map(({ id, title, state }) => `- ${state}: ${escapeMarkdown(title)} (${codeSpan(id)})`),
    ...handles.map(
      ({ entry, kind, before, after }) =>
        `- ${codeSpan(entry)}: ${codeSpan(kind)} open at the end, ${before} → ${after}`,
    ),
    ...memory.map(
      ({ entry, beforeBytes, afterBytes }) =>
        `- ${codeSpan(entry)}: heap at the end ${formatBytes(beforeBytes)} → ${formatBytes(afterBytes)}`,
    ),
  ];
  const heading = `### Against the baseline ${codeSpan(against)}`;
  return [heading, '', ...(lines.length ? lines : ['Nothing differs.'])];
}

function notes({ leftOut, gaps }: CiSummary): string[] {
  const lines = [
    ...(leftOut ?? []).map(({ name, reason }) => `- left out: ${codeSpan(name)} (${escapeMarkdown(reason)})`),
    ...(gaps ?? []).map((gap) => `- ${escapeMarkdown(gap)}`),
  ];
  return lines.length ? ['### Left out', '', ...lines] : [];
}

/** The output of `agentdump ci diff`. */
export function renderCiDifference(difference: CiDifference): string {
  const safe = mapStrings(difference, escapeTerminal);
  return `${defuseWorkflowCommands(differenceSection(safe).join('\n'))}\n`;
}
