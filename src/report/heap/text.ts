/**
 * The documents of `heap …` for people: tables without borders, sizes with units, paths below them. Every text from the
 * snapshot is passed through escapeTerminal before the layout.
 */
import type {
  HeapAllocationRow,
  HeapClassRow,
  HeapDocument,
  HeapEdgeRow,
  HeapFillTable,
  HeapGrownNode,
  HeapGrowthRow,
  HeapNodeRow,
  HeapPath,
  HeapQueryTable,
  HeapStringRow,
  HeapSummary,
  HeapSuspect,
  HeapValue,
} from '../../model/heap.ts';
import { clip, formatBytes, formatCount, formatNumber } from '../../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from '../escape-terminal.ts';
import { mapStrings } from '../map-strings.ts';
import { keyValues, type Page, section, wrap } from '../text/layout.ts';
import { findRuns } from '../text/repeats.ts';
import { renderTable } from '../text/table.ts';
import { renderFill } from './fill.ts';
import { foldPath } from './fold-path.ts';
import { type PathsView, renderPaths } from './merged-paths.ts';
import {
  allocationTable,
  classTable,
  nodeTable,
  nodeText,
  placeText,
  queryTable,
  retainerTable,
  shareTable,
  sizeShare,
} from './tables.ts';

export type HeapView =
  | ({ view: 'summary' } & HeapSummary)
  | ({ view: 'classes'; totalBytes: number; classCount: number; classes: HeapClassRow[] } & HeapDocument)
  | ({
      view: 'suspects';
      totalBytes: number;
      suspects: HeapSuspect[];
      /** For a comparison. */
      sources?: string[];
    } & HeapDocument)
  | ({ view: 'retainers'; node: HeapNodeRow; retainerCount: number; retainers: HeapEdgeRow[] } & HeapDocument)
  | ({
      view: 'nodes';
      node?: HeapNodeRow;
      matches?: number;
      nodes: HeapNodeRow[];
      table?: HeapQueryTable;
      notes?: string[];
    } & HeapDocument)
  | ({ view: 'path'; node: HeapNodeRow; path: HeapPath } & HeapDocument)
  | ({ view: 'paths' } & PathsView & HeapDocument)
  | ({
      view: 'strings';
      count: number;
      selfSizeBytes: number;
      wastedBytes: number;
      rows: HeapStringRow[];
    } & HeapDocument)
  | ({ view: 'fill' } & HeapFillTable & HeapDocument)
  | ({
      view: 'allocations';
      kind: 'tracked' | 'sampled';
      attributedBytes: number;
      totalBytes?: number;
      rowCount: number;
      rows: HeapAllocationRow[];
    } & HeapDocument)
  | ({ view: 'value'; node: HeapNodeRow; value: HeapValue } & HeapDocument)
  | ({
      view: 'growth';
      sources: string[];
      snapshots: { totalBytes: number; nodes: number }[];
      classes: HeapGrowthRow[];
      grown: HeapGrownNode[];
      commonShare: number;
      matchedBy: 'id' | 'place';
    } & HeapDocument);

export function renderHeap(view: HeapView, page: Page): string {
  const safe = mapStrings(view, escapeLine);
  const lines = [
    ...body(safe, page),
    ...section(
      page,
      'Gaps',
      safe.gaps.map(({ part, reason }) => `${part}: ${reason}`),
    ),
  ];
  return `${defuseWorkflowCommands(lines.join('\n'))}\n`;
}

function body(view: HeapView, page: Page): string[] {
  switch (view.view) {
    case 'summary':
      return renderSummary(view, page);
    case 'classes':
      return [
        title(page, `${formatCount(view.classCount, 'class', 'classes')} in ${formatBytes(view.totalBytes)}`),
        ...classTable(page, view.classes),
      ];
    case 'suspects':
      return view.sources && !view.suspects.length
        ? ['Nothing that the program holds grew between these snapshots.']
        : renderSuspects(view.suspects, view.totalBytes, page);
    case 'retainers':
      return [
        title(page, `${formatCount(view.retainerCount, 'reference')} to ${nodeText(view.node)}`),
        ...retainerTable(page, view.retainers),
      ];
    case 'nodes':
      return renderNodes(view, page);
    case 'path':
      return renderPath(view.node, view.path, page);
    case 'paths':
      return renderPaths(view, page);
    case 'strings':
      return renderStrings(view, page);
    case 'fill':
      return renderFill(view, page);
    case 'allocations':
      return renderAllocations(view, page);
    case 'value':
      return renderValue(view.node, view.value, page);
    case 'growth':
      return renderGrowth(view, page);
  }
}

const title = (page: Page, text: string): string => page.palette.strong(text);

function renderNodes(view: Extract<HeapView, { view: 'nodes' }>, page: Page): string[] {
  const { table, nodes, notes = [] } = view;
  const hidden = table ? table.rowCount - table.rows.length : (view.matches ?? nodes.length) - nodes.length;
  return [
    ...nodesTitle(view, page),
    ...(table ? queryTable(page, table) : nodeTable(page, nodes)),
    ...(hidden > 0 ? [page.palette.faint(`… ${formatCount(hidden, 'more row')} (limit)`)] : []),
    ...notes.flatMap((note) => ['', ...wrap(note, page.columns)]),
  ];
}

function nodesTitle(view: { node?: HeapNodeRow; matches?: number }, page: Page): string[] {
  if (view.node) return [title(page, `Directly kept alive by ${nodeText(view.node)}`)];
  return view.matches === undefined ? [] : [title(page, formatCount(view.matches, 'node'))];
}

function renderSummary(summary: HeapSummary, page: Page): string[] {
  const { statistics: s, totalBytes } = summary;
  const known = s.codeBytes + s.stringBytes + s.jsArrayBytes + s.systemBytes + s.nativeBytes;
  return [
    title(
      page,
      `${formatBytes(totalBytes)} in ${formatCount(summary.nodes, 'node')}, ${formatCount(summary.edges, 'edge')}, ${formatCount(summary.strings, 'string')}`,
    ),
    '',
    ...keyValues(page, [
      ['strings', sizeShare(s.stringBytes, totalBytes)],
      ['arrays', sizeShare(s.jsArrayBytes, totalBytes)],
      ['typed arrays', sizeShare(s.typedArrayBytes, totalBytes)],
      ['other native', sizeShare(s.nativeBytes - s.typedArrayBytes, totalBytes)],
      ['code', sizeShare(s.codeBytes, totalBytes)],
      ['system', sizeShare(s.systemBytes, totalBytes)],
      ['objects, the rest', sizeShare(Math.max(0, totalBytes - known), totalBytes)],
    ]),
    ...section(page, 'Classes', classTable(page, summary.classes)),
    ...section(page, 'Kinds of node', shareTable(page, summary.byType, totalBytes)),
    ...section(
      page,
      'Packages (of what has a place in the source)',
      shareTable(page, summary.packages, summary.locatedBytes),
    ),
    ...section(page, 'Files', shareTable(page, summary.files, summary.locatedBytes)),
  ];
}

function renderSuspects(all: HeapSuspect[], total: number, page: Page): string[] {
  const suspects = all.filter(({ growth }) => growth === undefined);
  const holders = all.slice(suspects.length);
  const nothing = `No single thing, class or kind of thing stands out as a leak in these ${formatBytes(total)}.`;
  const hint =
    'One snapshot does not show what grows: ask `agentdump heap suspects` with an earlier one and this.';
  if (!holders.length)
    return suspects.length ? suspectLines(suspects, 0, page) : [nothing, ...wrap(hint, page.columns)];
  return [
    ...(suspects.length ? suspectLines(suspects, 0, page) : [nothing]),
    '',
    title(page, 'Largest holders, growth not known'),
    ...wrap(hint, page.columns),
    '',
    ...suspectLines(holders, suspects.length, page),
  ];
}

function suspectLines(suspects: readonly HeapSuspect[], before: number, page: Page): string[] {
  return suspects.flatMap((suspect, at) => [
    ...(at ? [''] : []),
    page.palette.strong(`${before + at + 1}. ${suspect.title}`),
    ...wrap(suspect.sentence, page.columns - 3).map((line) => `   ${line}`),
    ...(suspect.path ? [`   ${page.palette.faint('at')} ${suspect.path}`] : []),
    ...(suspect.source?.file
      ? [
          `   ${page.palette.faint('written')} ${page.palette.place(`${suspect.source.file}:${suspect.source.line}`)}`,
        ]
      : []),
    ...suspect.evidence.map((fact) => `   ${page.palette.faint('-')} ${fact}`),
    `   ${page.palette.faint(`${suspect.growth ? 'growth not known' : suspect.confidence}; wrong if: ${suspect.refutedBy}`)}`,
    ...(suspect.node ? [`   ${page.palette.faint(`rule ${suspect.rule}, node @${suspect.node.id}`)}`] : []),
  ]);
}

function renderPath(node: HeapNodeRow, path: HeapPath, page: Page): string[] {
  const cells = withoutRuns(path.steps).map((step) =>
    typeof step === 'number'
      ? [`… ${formatNumber(step)} more`, '', '', '', '']
      : [
          clip(step.edge, 40),
          step.edgeType,
          `@${step.node.id}`,
          formatBytes(step.node.retainedSizeBytes),
          clip(step.node.class, 50),
        ],
  );
  return [
    title(page, `What keeps ${nodeText(node)} alive`),
    path.text,
    '',
    ...renderTable(page, ['by', 'kind', 'id', 'retained', 'class'], cells),
  ];
}

/** In a run of this many similar steps, such as down a list, only the first and the last are shown. */
const longRun = 6;

/** The steps between are replaced by their number. */
function withoutRuns(steps: HeapEdgeRow[]): (HeapEdgeRow | number)[] {
  const keys = steps.map(({ edge, node }) => `${edge} ${node.class}`);
  return findRuns(keys).flatMap(({ start, length, times }) => {
    const run = steps.slice(start, start + length * times);
    const hidden = run.length - 2 * length;
    return run.length < longRun ? run : [...run.slice(0, length), hidden, ...run.slice(-length)];
  });
}

function renderStrings(
  view: { count: number; selfSizeBytes: number; wastedBytes: number; rows: HeapStringRow[] },
  page: Page,
): string[] {
  const cells = view.rows.map((row) => [
    formatBytes(row.wastedBytes),
    formatNumber(row.count),
    `@${row.id}`,
    clip(row.value, 50),
    (row.holders ?? []).map(({ holder, count }) => `${clip(holder, 40)} ${formatNumber(count)}`).join(', '),
  ]);
  return [
    title(
      page,
      `${formatCount(view.count, 'string')} in ${formatBytes(view.selfSizeBytes)}; copies waste ${formatBytes(view.wastedBytes)}`,
    ),
    ...renderTable(page, ['wasted', 'times', 'one of them', 'text', 'held by'], cells),
  ];
}

function renderAllocations(view: Extract<HeapView, { view: 'allocations' }>, page: Page): string[] {
  const hidden = view.rowCount - view.rows.length;
  const largest = view.rows[0];
  return [
    ...wrap(allocationsTitle(view), page.columns).map((line) => title(page, line)),
    ...allocationTable(page, view.rows, view.kind === 'tracked'),
    ...(hidden > 0 ? [page.palette.faint(`… ${formatCount(hidden, 'more row')} (--limit)`)] : []),
    ...section(page, 'Stack of the largest', largest?.stack.map((frame) => clip(frame, page.columns)) ?? []),
  ];
}

function allocationsTitle({
  kind,
  attributedBytes,
  totalBytes,
}: Extract<HeapView, { view: 'allocations' }>): string {
  const bytes = formatBytes(attributedBytes);
  if (kind === 'sampled' && attributedBytes === 0)
    return 'Nothing that was sampled was still alive when the profile was written';
  if (kind === 'sampled') return `${bytes} alive, estimated from samples of allocations`;
  return `${bytes} of ${formatBytes(totalBytes ?? 0)} were allocated while allocations were tracked`;
}

const numbersMissing =
  'Whole numbers are not in this snapshot, nor the properties that hold one (V8 writes them with exposeNumericValues).';

function renderValue(node: HeapNodeRow, value: HeapValue, page: Page): string[] {
  const cells = value.entries.map((entry) => [
    clip(entry.key, 50),
    entry.id ? `@${entry.id}` : '',
    entry.id ? formatBytes(entry.retainedSizeBytes) : '',
    clip(entry.text, 80),
  ]);
  const more = value.entryCount - value.entries.length;
  const stack = (value.allocatedAt ?? []).map(
    (frame) => `${frame.function || '(anonymous)'} (${frame.script}:${frame.line}:${frame.column})`,
  );
  return [
    title(page, `${nodeText(node)}, ${value.kind}, retains ${formatBytes(node.retainedSizeBytes)}`),
    ...(value.source ? [page.palette.place(placeText(value.source))] : []),
    value.text,
    ...(cells.length ? ['', ...renderTable(page, ['key', 'id', 'retained', 'value'], cells)] : []),
    ...(value.lacksNumbers ? ['', page.palette.faint(numbersMissing)] : []),
    ...section(page, 'Allocated at', stack),
    ...(more > 0
      ? [page.palette.faint(`… ${formatCount(more, 'more entry', 'more entries')} (--limit)`)]
      : []),
  ];
}

const matchTexts = {
  id: 'Of one process: an object is the same that has the same id in both.',
  place:
    'Without common ids (different processes, or read from memory), objects are matched by their class and by what keeps them alive.',
};

function renderGrowth(view: Extract<HeapView, { view: 'growth' }>, page: Page): string[] {
  const isOne = view.matchedBy === 'id';
  const sign = (text: string, value: number): string => (value > 0 ? `+${text}` : text);
  const totals = view.snapshots.map(({ totalBytes, nodes }, at) => [
    clip(view.sources[at] ?? '', 60),
    formatBytes(totalBytes),
    formatNumber(nodes),
  ]);
  const classes = view.classes.map((row) => [
    sign(formatBytes(row.sizeGrowthBytes), row.sizeGrowthBytes),
    sign(formatNumber(row.countGrowth), row.countGrowth),
    isOne ? `+${formatNumber(row.added)} -${formatNumber(row.removed)}` : '',
    row.trend,
    row.counts.map(formatNumber).join(' → '),
    clip(row.class, 60),
  ]);
  const grown = view.grown.map((row) => [
    `+${formatBytes(row.growthBytes)}`,
    formatBytes(row.beforeBytes),
    formatNumber(row.count),
    `@${row.node.id}`,
    clip(row.node.class, 40),
    foldPath(row.path, 90),
  ]);
  return [
    ...renderTable(page, ['snapshot', 'heap', 'nodes'], totals),
    '',
    page.palette.faint(matchTexts[view.matchedBy]),
    ...section(
      page,
      'Grown objects',
      renderTable(page, ['growth', 'before', 'objects', 'one of them', 'class', 'where'], grown),
    ),
    ...section(
      page,
      'Classes',
      renderTable(page, ['self', 'count', isOne ? 'new, freed' : '', 'trend', 'counts', 'class'], classes),
    ),
  ];
}
