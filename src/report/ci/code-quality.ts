/** GitLab's code quality report (its documentation, "Code Quality report format"): findings next to the changed lines. */
import type { CiSummary } from '../../model/ci-summary.ts';
import { clip } from '../../model/quantities.ts';
import { escapeTerminal } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { problemsOf, withoutRepeats } from './wording.ts';

/** `hash` computes the fingerprints, which GitLab compares between two runs. */
export function renderCodeQuality(given: CiSummary, hash: (text: string) => string): string {
  const summary = mapStrings(given, escapeTerminal);
  const findings = withoutRepeats(problemsOf(summary)).flatMap(({ title, test, place, file, bundle }) => {
    const path = place?.file ?? file;
    if (path === undefined) return [];
    return [
      {
        description: clip(test ? `${test}: ${title}` : title, 500),
        check_name: `agentdump/${bundle?.kind ?? 'test-failure'}`,
        fingerprint: hash([bundle?.signature ?? title, test ?? '', path].join('\n')),
        severity: bundle ? 'critical' : 'major',
        location: { path, lines: { begin: place?.line ?? 1 } },
      },
    ];
  });
  return `${JSON.stringify(findings, undefined, 1)}\n`;
}
