/** The last lines of a failed run in the job's log: what happened to which test, and where the details are. */
import type { CiSummary } from '../../model/ci-summary.ts';
import { formatBytes, formatCount, formatShare } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import {
  againText,
  countsText,
  groupProblems,
  handledLateText,
  heapDiffCommand,
  isHandledLate,
  listText,
  namesText,
  openCommand,
  outcomeText,
  type Problem,
  problemsOf,
} from './wording.ts';

const mostProblems = 10;

export function renderCiText(given: CiSummary, folder: string): string {
  const summary = mapStrings(given, escapeLine);
  // Done after the first lines of messages were determined, because it escapes line ends.
  const problems = problemsOf(given).map((problem) => mapStrings(problem, escapeLine));
  const groups = groupProblems(problems);
  const more = groups.slice(mostProblems).flat().length;
  const lines = [
    `${outcomeText(summary)}: ${countsText(summary)}`,
    ...groups.slice(0, mostProblems).flatMap((group) => problemLines(group, folder)),
    ...(more > 0 ? [`  … ${more} more`] : []),
    ...(summary.leaks ?? []).flatMap(({ entry, firstBytes, lastBytes, suspects, heaps }) => [
      `  ✖ memory grew in ${entry}: ${formatBytes(firstBytes)} → ${formatBytes(lastBytes)} (${formatShare(lastBytes / firstBytes - 1)} more)${suspects[0] ? `, most of it in ${suspects[0].path}` : ''}`,
      ...(heaps ? [`    ${heapDiffCommand(heaps, folder)}`] : []),
    ]),
    `  the report: ${folder}/summary.md`,
  ];
  return defuseWorkflowCommands(lines.join('\n'));
}

function problemLines(group: readonly Problem[], folder: string): string[] {
  const [first] = group as [Problem];
  if (first.isUnfinished && group.length > 1) return unfinishedLines(group, first);
  const [{ test, title, place, file, bundle, reported }] = group as [Problem];
  const names = group.flatMap(({ test }) => test ?? []);
  const isOne = group.length === 1 || bundle !== undefined;
  const head = test === undefined || title.includes(`“${test}”`) ? '' : `${test}: `;
  return [
    isOne ? `  ✖ ${head}${title}` : `  ✖ ${title}`,
    ...(place || file ? [`    ${place ? `${place.file}:${place.line}` : file}`] : []),
    ...(isOne ? [] : [`    in ${namesText(names)}`]),
    ...(reported === undefined ? [] : [`    ${reported}`]),
    ...(bundle && isHandledLate(bundle) ? [`    ${handledLateText}`] : []),
    ...(bundle?.again ? [`    ${againText(bundle.again)}`] : []),
    ...(bundle ? [`    ${openCommand(bundle, folder)}`] : []),
    ...(bundle && group.length > 1
      ? [`    the same in ${formatCount(group.length - 1, 'other bundle')} of the report`]
      : []),
  ];
}

function unfinishedLines(group: readonly Problem[], { file }: Problem): string[] {
  const names = group.map(({ test = '' }) => test);
  return [`  ✖ ${group.length} tests did not finish: ${listText(names)}`, ...(file ? [`    ${file}`] : [])];
}
