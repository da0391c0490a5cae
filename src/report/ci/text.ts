/** The last lines of a failed run in the job's log: what happened to which test, and where the details are. */
import type { CiSummary } from '../../model/ci-summary.ts';
import { formatBytes, formatShare } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { againText, countsText, heapDiffCommand, openCommand, outcomeText, problemsOf } from './wording.ts';

const mostProblems = 10;

export function renderCiText(given: CiSummary, folder: string): string {
  const summary = mapStrings(given, escapeLine);
  // Done after the first lines of messages were determined, because it escapes line ends.
  const problems = problemsOf(given).map((problem) => mapStrings(problem, escapeLine));
  const lines = [
    `${outcomeText(summary)}: ${countsText(summary)}`,
    ...problems
      .slice(0, mostProblems)
      .flatMap(({ test, title, place, file, bundle }) => [
        `  ✖ ${test === undefined || title.includes(`“${test}”`) ? '' : `${test}: `}${title}`,
        ...(place || file ? [`    ${place ? `${place.file}:${place.line}` : file}`] : []),
        ...(bundle?.again ? [`    ${againText(bundle.again)}`] : []),
        ...(bundle ? [`    ${openCommand(bundle, folder)}`] : []),
      ]),
    ...(problems.length > mostProblems ? [`  … ${problems.length - mostProblems} more`] : []),
    ...(summary.leaks ?? []).flatMap(({ entry, firstBytes, lastBytes, suspects, heaps }) => [
      `  ✖ memory grew in ${entry}: ${formatBytes(firstBytes)} → ${formatBytes(lastBytes)} (${formatShare(lastBytes / firstBytes - 1)} more)${suspects[0] ? `, most of it in ${suspects[0].path}` : ''}`,
      ...(heaps ? [`    ${heapDiffCommand(heaps, folder)}`] : []),
    ]),
    `  the report: ${folder}/summary.md`,
  ];
  return defuseWorkflowCommands(lines.join('\n'));
}
