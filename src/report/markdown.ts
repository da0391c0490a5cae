/**
 * The account as one page of Markdown for an issue or a job's summary: the verdict as prose, the evidence in fenced blocks,
 * the rest folded. Nothing from the bundle can create markup, links or mentions.
 */
import type { Account } from '../model/account.ts';
import { formatBytes, formatCount, uptimeText } from '../model/quantities.ts';
import { withheldText } from '../model/withheld.ts';
import { renderSuspended } from './core.ts';
import { defuseWorkflowCommands, escapeTerminal } from './escape-terminal.ts';
import { mapStrings } from './map-strings.ts';
import { codeBlock, codeSpan, escapeMarkdown } from './markdown/escape-markdown.ts';
import { plainPalette } from './palette.ts';
import { renderAgent } from './text/agent.ts';
import { renderError } from './text/error.ts';
import type { Page } from './text/layout.ts';
import { renderMemory } from './text/memory.ts';
import { renderProcessEvents } from './text/process-events.ts';
import { renderRequests } from './text/requests.ts';
import { renderPlace, renderStack } from './text/stack.ts';
import { renderHandles, renderPackages, renderProcess } from './text/surroundings.ts';
import { renderTest } from './text/test.ts';
import { renderWaits } from './text/waits.ts';

/** Blocks are wrapped by the reader's browser. */
const page: Page = { palette: plainPalette, columns: 120 };
const maxGaps = 50;

export function renderMarkdown(account: Account): string {
  const safe = mapStrings(account, escapeTerminal);
  const blocks = [
    headline(safe),
    code(safe),
    summary(safe),
    block('Test', renderTest(safe, page)),
    evidence(safe),
    beforeEnd(safe),
    nextSteps(safe),
    block('Error', renderError(safe, page)),
    block('Stack', renderStack(safe, page)),
    block('Waiting', renderSuspended(safe, page)),
    unusual(safe),
    folded('Requests', renderRequests(safe, page)),
    block('Who waits for whom', renderWaits(safe, page)),
    folded('Agent', renderAgent(safe, page)),
    folded('Around the process', renderProcessEvents(safe, page)),
    folded('Memory', renderMemory(safe, page)),
    folded('Process', renderProcess(safe, page)),
    folded('Packages', renderPackages(safe, page)),
    folded('Handles', renderHandles(safe, page)),
    gaps(safe),
    footer(safe),
  ];
  const lines = blocks.filter((lines) => lines.length).flatMap((lines) => [...lines, '']);
  return defuseWorkflowCommands(lines.join('\n'));
}

function headline({ verdict, bundle, process }: Account): string[] {
  if (!verdict) return ['## No verdict'];
  const about = [
    codeSpan(verdict.kind),
    verdict.confidence,
    bundle?.capturedAt && codeSpan(bundle.capturedAt),
    process?.pid !== undefined && `pid ${process.pid}`,
    process?.nodeVersion && `Node ${codeSpan(process.nodeVersion)}`,
    process && uptimeText(process),
  ];
  return [`## ${escapeMarkdown(verdict.title)}`, '', about.filter(Boolean).join(' · ')];
}

function code(account: Account): string[] {
  const lines = renderPlace(account, page).filter(Boolean);
  return lines.length ? codeBlock(lines) : [];
}

function summary({ verdict }: Account): string[] {
  return verdict?.summary ? [escapeMarkdown(verdict.summary)] : [];
}

function beforeEnd({ verdict }: Account): string[] {
  if (!verdict?.beforeEnd?.length) return [];
  const items = verdict.beforeEnd.map(({ fact, part }) => `- ${escapeMarkdown(fact)} (${codeSpan(part)})`);
  return ['### Before the end', '', ...items];
}

function block(heading: string, lines: readonly string[]): string[] {
  return lines.length ? [`### ${heading}`, '', ...codeBlock(lines)] : [];
}

function folded(heading: string, lines: readonly string[]): string[] {
  if (!lines.length) return [];
  return [`<details><summary>${heading}</summary>`, '', ...codeBlock(lines), '', '</details>'];
}

function evidence({ verdict }: Account): string[] {
  if (!verdict) return [];
  return [
    '### Evidence',
    '',
    ...verdict.evidence.map(({ fact, part }) => `- ${escapeMarkdown(fact)} (${codeSpan(part)})`),
    ...(verdict.alternatives ?? []).map(
      ({ kind, title, confidence }) => `- Also ${confidence}: ${codeSpan(kind)}. ${escapeMarkdown(title)}`,
    ),
    '',
    `Refuted by: ${escapeMarkdown(verdict.refutedBy)}`,
  ];
}

function nextSteps({ verdict }: Account): string[] {
  if (!verdict?.nextSteps.length) return [];
  return [
    '### What to do next',
    '',
    ...verdict.nextSteps.map((step, index) => `${index + 1}. ${escapeMarkdown(step)}`),
  ];
}

function unusual({ environment }: Account): string[] {
  if (!environment?.unusual?.length) return [];
  const items = environment.unusual.map(
    ({ level, fact, part }) =>
      `- ${level === 'alarm' ? '**alarm** ' : ''}${escapeMarkdown(fact)} (${codeSpan(part)})`,
  );
  return ['### Unusual', '', ...items];
}

function gaps({ gaps }: Account): string[] {
  if (!gaps.length) return [];
  const items = gaps.slice(0, maxGaps).map(({ part, reason, lookedFor }) => {
    const suffix = lookedFor ? ` (looked for ${codeSpan(lookedFor)})` : '';
    return `- ${codeSpan(part)}: ${escapeMarkdown(reason)}${suffix}`;
  });
  const more = gaps.length > maxGaps ? [`- ${formatCount(gaps.length - maxGaps, 'more gap')}`] : [];
  return ['### Gaps', '', ...items, ...more];
}

function footer({ bundle, signature }: Account): string[] {
  if (!bundle) return [];
  const bytes = bundle.parts.reduce((sum, part) => sum + part.bytes, 0);
  const parts = `${formatCount(bundle.parts.length, 'part')}, ${formatBytes(bytes)}${bundle.sealed ? '' : ', not sealed'}`;
  const same = signature ? ` · signature ${codeSpan(signature.id)}` : '';
  const withheld = withheldText(bundle);
  return [`Bundle ${codeSpan(bundle.id)} · ${parts}${withheld ? ` · ${withheld}` : ''}${same}`];
}
