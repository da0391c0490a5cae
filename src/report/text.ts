/**
 * The account for people at a terminal. The first screen contains what happened, the code with the line, whose work it was,
 * the evidence, what failed before, and what to do; everything else and what is missing follows. Renders only the model;
 * every text from the bundle is escaped before the layout.
 */
import type { Account } from '../model/account.ts';
import { formatBytes, formatCount } from '../model/quantities.ts';
import type { Evidence } from '../model/verdict.ts';
import { withheldText } from '../model/withheld.ts';
import { coreSections, hasCore, renderSuspended } from './core.ts';
import { defuseWorkflowCommands, escapeTerminal } from './escape-terminal.ts';
import { mapStrings } from './map-strings.ts';
import { type Palette, plainPalette } from './palette.ts';
import { renderAgent } from './text/agent.ts';
import { renderError } from './text/error.ts';
import { fitLines } from './text/fit.ts';
import { renderHeadline, renderSummary } from './text/headline.ts';
import { keyValues, oneLine, type Page, section, wrap } from './text/layout.ts';
import { renderMemory } from './text/memory.ts';
import { beforeEndHeading, renderProcessEvents } from './text/process-events.ts';
import { renderRequests } from './text/requests.ts';
import { renderPlace, renderStack } from './text/stack.ts';
import { renderHandles, renderPackages, renderProcess, renderUnusual } from './text/surroundings.ts';
import { renderTest } from './text/test.ts';
import { renderWaits } from './text/waits.ts';

export interface TextOptions {
  palette?: Palette;
  /** Columns of the terminal; 100 if unknown. */
  columns?: number;
}

const maxGaps = 20;

export function renderText(account: Account, options: TextOptions = {}): string {
  const page: Page = { palette: options.palette ?? plainPalette, columns: options.columns ?? 100 };
  const safe = mapStrings(account, escapeTerminal);
  const lines = [
    ...renderHeadline(safe, page),
    ...(hasCore(safe) ? [] : renderPlace(safe, page)),
    ...renderSummary(safe, page),
    ...section(page, 'Test', renderTest(safe, page)),
    ...section(page, 'Evidence', renderEvidence(safe, page)),
    ...section(page, beforeEndHeading(safe), renderBeforeEnd(safe, page)),
    ...section(page, 'What to do next', renderNextSteps(safe, page)),
    ...section(page, 'Error', renderError(safe, page)),
    ...(hasCore(safe) ? coreSections(safe, page) : section(page, 'Stack', renderStack(safe, page))),
    ...(hasCore(safe) ? [] : section(page, 'Waiting', renderSuspended(safe, page))),
    ...section(page, 'Requests', renderRequests(safe, page)),
    ...section(page, 'Who waits for whom', renderWaits(safe, page)),
    ...section(page, 'Agent', renderAgent(safe, page)),
    ...section(page, 'Around the process', renderProcessEvents(safe, page)),
    ...section(page, 'Memory', renderMemory(safe, page)),
    ...section(page, 'Unusual', renderUnusual(safe, page)),
    ...section(page, 'Process', renderProcess(safe, page)),
    ...section(page, 'Packages', renderPackages(safe, page)),
    ...section(page, 'Handles', renderHandles(safe, page)),
    ...section(page, 'Gaps', renderGaps(safe, page)),
    ...section(page, 'Bundle', renderBundle(safe, page)),
  ];
  return `${defuseWorkflowCommands(fitLines(lines, page.columns).join('\n'))}\n`;
}

function renderEvidence({ verdict }: Account, page: Page): string[] {
  if (!verdict) return [];
  const { palette, columns } = page;
  const facts = factLines(verdict.evidence, page);
  const others = (verdict.alternatives ?? []).flatMap(({ kind, title, confidence }) =>
    wrap(`Also ${confidence}: ${kind}. ${title}`, columns - 2),
  );
  return [...facts, ...others, ...wrap(`Refuted by: ${verdict.refutedBy}`, columns - 2).map(palette.faint)];
}

function renderBeforeEnd({ verdict }: Account, page: Page): string[] {
  return factLines(verdict?.beforeEnd ?? [], page);
}

/** Sentences that differ only in their figures are merged and counted. */
function factLines(evidence: readonly Evidence[], { palette, columns }: Page): string[] {
  const alike = new Map<string, { fact: string; part: string; more: number }>();
  for (const { fact, part } of evidence) {
    const key = fact.replace(/\d+/g, '#');
    const known = alike.get(key);
    if (known) known.more += known.fact === fact ? 0 : 1;
    else alike.set(key, { fact, part, more: 0 });
  }
  return [...alike.values()].flatMap(({ fact, part, more }) =>
    wrap(`${fact}${more ? ` And ${more} more like it.` : ''} (${part})`, columns - 2, '• ').map((line) =>
      line.endsWith(`(${part})`) ? line.slice(0, -part.length - 2) + palette.faint(`(${part})`) : line,
    ),
  );
}

function renderNextSteps({ verdict }: Account, page: Page): string[] {
  return (verdict?.nextSteps ?? []).flatMap((step, i) => wrap(step, page.columns - 2, `${i + 1}. `));
}

/** Gaps with the same reason are one line: a torn bundle has the same one for each of its parts. */
function renderGaps({ gaps }: Account, page: Page): string[] {
  const byReason = new Map<string, string[]>();
  for (const { part, reason, lookedFor } of gaps) {
    const text = lookedFor ? `${reason} (looked for: ${lookedFor})` : reason;
    const parts = byReason.get(text);
    if (parts) parts.push(part);
    else byReason.set(text, [part]);
  }
  const lines = [...byReason].slice(0, maxGaps).flatMap(([reason, parts]) => {
    const more = parts.length > 6 ? ` and ${parts.length - 6} more` : '';
    const text = `${parts.slice(0, 6).join(', ')}${more}: ${reason}`;
    return wrap(text, page.columns - 2, '- ').map(page.palette.warn);
  });
  const hidden = byReason.size - maxGaps;
  if (hidden > 0) lines.push(page.palette.warn(`… ${formatCount(hidden, 'more gap')}, see --json`));
  return lines;
}

function renderBundle({ bundle, signature }: Account, page: Page): string[] {
  if (!bundle) return [];
  const bytes = bundle.parts.reduce((sum, part) => sum + part.bytes, 0);
  return keyValues(page, [
    ['id', oneLine(bundle.id)],
    ['path', oneLine(bundle.path)],
    [
      'parts',
      `${formatCount(bundle.parts.length, 'part')}, ${formatBytes(bytes)}${bundle.sealed ? '' : ', not sealed'}`,
    ],
    ['redaction', withheldText(bundle)],
    ['signature', signature && `${signature.id} (the same fault has the same signature)`],
  ]);
}
