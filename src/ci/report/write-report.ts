/** Writes the report folder, and informs the CI service in the format that it expects. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CiSummary } from '../../model/ci-summary.ts';
import { renderAzureCommands, renderGitHubAnnotations } from '../../report/ci/annotations.ts';
import { renderCodeQuality } from '../../report/ci/code-quality.ts';
import { renderJunit } from '../../report/ci/junit.ts';
import { renderCiMarkdown } from '../../report/ci/markdown.ts';
import { renderCiText } from '../../report/ci/text.ts';
import { detectService } from '../environment.ts';
import type { CiOptions } from '../options.ts';
import { shortenPath } from './summarize.ts';

export function writeReport(options: CiOptions, summary: CiSummary): void {
  const { report, note } = options;
  const folder = shortenPath(report);
  const markdown = renderCiMarkdown(summary, folder);
  mkdirSync(report, { recursive: true });
  const files: Record<string, string> = {
    'summary.json': `${JSON.stringify(summary, undefined, 2)}\n`,
    'summary.md': markdown,
    'junit.xml': renderJunit(summary, report),
  };
  const service = detectService(process.env);
  if (service === 'gitlab')
    files['gl-code-quality-report.json'] = renderCodeQuality(summary, (text) =>
      createHash('sha256').update(text).digest('hex').slice(0, 32),
    );
  for (const [name, text] of Object.entries(files)) writeFileSync(join(report, name), text);
  note(renderCiText(summary, folder));
  if (service === 'github') tellGitHub(options, summary, markdown);
  if (service === 'azure') options.print(renderAzureCommands(summary, join(report, 'summary.md')).join('\n'));
}

function tellGitHub({ print, note }: CiOptions, summary: CiSummary, markdown: string): void {
  print(renderGitHubAnnotations(summary).join('\n'));
  const path = process.env['GITHUB_STEP_SUMMARY'];
  if (!path) return;
  try {
    appendFileSync(path, `${markdown}\n`);
  } catch (error) {
    note(`the job's summary could not be written: ${error instanceof Error ? error.message : error}`);
  }
}
