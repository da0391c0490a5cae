/** `agentdump ci diff --baseline FOLDER`: what is new in a report compared with the summary of an earlier run. */
import { resolve } from 'node:path';
import { compareWithBaseline, requireSummary } from '../../ci/report/diff.ts';
import { AgentdumpError } from '../../errors.ts';
import { renderCiDifference } from '../../report/ci/markdown.ts';
import { print, printJson } from '../output/output.ts';

export const ciDiffHelp = `Usage: agentdump ci diff --baseline FOLDER [--report FOLDER] [--json]

What is new in a report against the summary of an earlier run: signatures (seen first, seen again, gone), handles, memory.

  --baseline FOLDER   the report folder of the earlier run, or one that \`ci --baseline\` keeps
  --report FOLDER     the report to compare                                                 [./agentdump-report]
  --json              one JSON document
`;

export function runDiff(words: readonly string[]): void {
  if (words.includes('--help') || words.includes('-h')) {
    print(ciDiffHelp);
    return;
  }
  let baseline: string | undefined;
  let report = 'agentdump-report';
  let json = false;
  for (let at = 0; at < words.length; at++) {
    const [name, ...rest] = (words[at] ?? '').split('=');
    const value = (): string => {
      const found = rest.length ? rest.join('=') : words[++at];
      if (!found) throw new AgentdumpError('usage', `${name} wants a folder`, { argument: name });
      return found;
    };
    if (name === '--baseline') baseline = value();
    else if (name === '--report') report = value();
    else if (name === '--json') json = true;
    else throw new AgentdumpError('usage', `ci diff has no option ${words[at]}`, { argument: words[at] });
  }
  if (baseline === undefined)
    throw new AgentdumpError('usage', 'ci diff wants --baseline FOLDER', { argument: '--baseline' });
  const before = requireSummary(resolve(baseline));
  const difference = compareWithBaseline(resolve(baseline), before, requireSummary(resolve(report)));
  if (json) printJson(difference);
  else print(renderCiDifference(difference));
}
