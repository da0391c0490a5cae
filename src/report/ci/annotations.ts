/**
 * Commands that CI services read from a job's log: GitHub's workflow commands and Azure's logging commands. Everything that
 * comes from a program is escaped like in the services' own toolkits (actions/toolkit packages/core/src/command.ts,
 * microsoft/azure-pipelines-task-lib node/taskcommand.ts), so that it can't start a command of its own.
 */
import type { CiSummary } from '../../model/ci-summary.ts';
import { clip } from '../../model/quantities.ts';
import { escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { outcomeText, type Problem, problemsOf, withoutRepeats } from './wording.ts';

/** GitHub shows ten errors per step. */
const mostAnnotations = 10;

export function renderGitHubAnnotations(given: CiSummary): string[] {
  const summary = mapStrings(given, escapeTerminal);
  const problems = withoutRepeats(problemsOf(summary)).slice(0, mostAnnotations);
  if (!problems.length) return [`::error title=agentdump::${gitHubMessage(outcomeText(summary))}`];
  return problems.map((problem) => {
    const { file, line, column } = placeOf(problem);
    const properties = [
      ...(file === undefined ? [] : [`file=${gitHubProperty(file)}`]),
      ...(line === undefined ? [] : [`line=${line}`]),
      ...(column === undefined ? [] : [`col=${column}`]),
      `title=${gitHubProperty(clip(problem.test ?? 'agentdump', 200))}`,
    ];
    return `::error ${properties.join(',')}::${gitHubMessage(messageOf(problem))}`;
  });
}

export function renderAzureCommands(given: CiSummary, markdownPath: string): string[] {
  const summary = mapStrings(given, escapeTerminal);
  const issues = withoutRepeats(problemsOf(summary))
    .slice(0, mostAnnotations)
    .map((problem) => {
      const { file, line, column } = placeOf(problem);
      const properties = [
        'type=error',
        ...(file === undefined ? [] : [`sourcepath=${azureProperty(file)}`]),
        ...(line === undefined ? [] : [`linenumber=${line}`]),
        ...(column === undefined ? [] : [`columnnumber=${column}`]),
      ];
      const title = problem.test ? `${problem.test}: ` : '';
      return `##vso[task.logissue ${properties.join(';')};]${azureMessage(title + messageOf(problem))}`;
    });
  const attachments = summary.bundles.map(
    ({ name }) =>
      `##vso[artifact.upload containerfolder=agentdump;artifactname=agentdump-report]${azureMessage(siblingOf(markdownPath, `bundles/${name}`))}`,
  );
  return [...issues, `##vso[task.uploadsummary]${azureMessage(markdownPath)}`, ...attachments];
}

function siblingOf(path: string, name: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1) + name;
}

function placeOf({ place, file }: Problem): { file?: string; line?: number; column?: number } {
  return place ?? (file === undefined ? {} : { file });
}

function messageOf({ title, detail, reported, bundle }: Problem): string {
  const said = reported === undefined ? '' : `\n${reported.charAt(0).toUpperCase()}${reported.slice(1)}.`;
  const open = `${said}${bundle ? `\nBundle: ${bundle.name}` : ''}`;
  return clip(beginsWith(detail, title) ? detail : detail ? `${title}\n${detail}` : title, 4_000) + open;
}

/** A title is the beginning of its error's text, on one line and possibly cut. */
function beginsWith(text: string, title: string): boolean {
  return text.trim().replace(/\s+/g, ' ').startsWith(title.replace(/…$/, '').replace(/\s+/g, ' '));
}

function gitHubMessage(text: string): string {
  return text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

function gitHubProperty(text: string): string {
  return gitHubMessage(text).replace(/:/g, '%3A').replace(/,/g, '%2C');
}

/** A message ends at the end of its line. */
function azureMessage(text: string): string {
  return text.replace(/%/g, '%AZP25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

function azureProperty(text: string): string {
  return azureMessage(text).replace(/\]/g, '%5D').replace(/;/g, '%3B');
}
