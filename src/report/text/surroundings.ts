/** The surroundings of the death: what is unusual, the process, its modules, its handles. */
import type { Account } from '../../model/account.ts';
import { foldCommand } from '../../model/command-text.ts';
import {
  clip,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../model/quantities.ts';
import { quoteWords } from '../../platform/paths.ts';
import { keyValues, oneLine, type Page } from './layout.ts';
import { renderTable } from './table.ts';

const maxRows = 15;

export function renderUnusual({ environment }: Account, { palette }: Page): string[] {
  return (environment?.unusual ?? []).map(({ level, fact, part }) => {
    const mark = level === 'alarm' ? palette.bad('!') : palette.warn('·');
    return `${mark} ${oneLine(fact)} ${palette.faint(`(${oneLine(part)})`)}`;
  });
}

export function renderProcess({ process, memory, environment, verdict }: Account, page: Page): string[] {
  const os = environment?.os;
  const rows: [string, string | undefined][] = [
    ['command', commandText(process)],
    ['folder', process?.cwd && oneLine(process.cwd)],
    ['ended', exitText(process?.exit)],
    ['started', startedText(process, verdict)],
    ['memory', memoryText(memory)],
    [
      'machine',
      os &&
        oneLine([os['type'], os['release'], process?.arch, cpusText(os['cpus'])].filter(Boolean).join(' ')),
    ],
    ['container', process?.container && oneLine(process.container)],
    ['variables', variablesText(environment?.variables)],
  ];
  return keyValues(page, rows);
}

type Process = NonNullable<Account['process']>;

/** As it was typed: the program, Node's options, then the script and its arguments. */
function commandText(process: Process | undefined): string | undefined {
  const [node, ...words] = process?.argv ?? [];
  if (node === undefined) return undefined;
  return foldCommand(oneLine(quoteWords([node, ...(process?.execArgv ?? []), ...words])), 300);
}

function exitText(exit: Process['exit']): string | undefined {
  if (exit?.signal) return oneLine(exit.signal);
  return exit?.code === undefined ? undefined : `exit code ${exit.code}`;
}

function startedText(process: Process | undefined, verdict: Account['verdict']): string | undefined {
  if (!process?.startedAt) return undefined;
  const until =
    verdict?.kind === 'snapshot' || verdict?.kind === 'no-progress'
      ? 'this moment'
      : process.uptimeIsMinimum
        ? 'its last sign of life'
        : 'the end';
  const up = process.uptimeMs === undefined ? '' : `, ${formatDuration(process.uptimeMs)} before ${until}`;
  return `${oneLine(process.startedAt)}${up}`;
}

function memoryText(memory: Account['memory']): string | undefined {
  if (!memory) return undefined;
  const { rssBytes, heapUsedBytes: used, heapLimitBytes: limit } = memory;
  const heap = used === undefined ? undefined : `heap ${formatBytes(used)}`;
  const of = used === undefined || !limit ? '' : ` of ${formatBytes(limit)} (${formatShare(used / limit)})`;
  return [rssBytes !== undefined && `resident ${formatBytes(rssBytes)}`, heap && heap + of]
    .filter(Boolean)
    .join(', ');
}

const cpusText = (cpus: unknown): string | undefined =>
  typeof cpus === 'number' ? formatCount(cpus, 'processor') : undefined;

function variablesText(variables: NonNullable<Account['environment']>['variables']): string | undefined {
  if (!variables) return undefined;
  const all = Object.values(variables);
  const withheld = all.filter((v) => 'withheld' in v).length;
  return `${formatNumber(all.length)}, of which ${formatNumber(withheld)} withheld`;
}

/** One per line, sorted by name. */
export function renderVariables({ environment }: Account, page: Page): string[] {
  return keyValues(
    page,
    Object.entries(environment?.variables ?? {}).map(([name, shown]): [string, string] => [
      oneLine(name),
      'withheld' in shown ? `withheld (${shown.withheld})` : oneLine(shown.value),
    ]),
  );
}

/** Packages that differ from the lock file; those that are loaded twice are in the section of unusual facts. */
export function renderPackages({ modules }: Account, page: Page): string[] {
  const packages = modules?.packages ?? [];
  const drifted = packages.filter((p) => p.drift);
  const lines = renderTable(
    page,
    ['package', 'loaded', 'against the lock file'],
    drifted.slice(0, maxRows).map((p) => [p.name, p.version ?? '-', p.drift ?? '']),
  );
  if (drifted.length > maxRows) lines.push(page.palette.faint(`… ${drifted.length - maxRows} more`));
  if (packages.length > 1)
    lines.push(page.palette.faint(`${formatCount(packages.length, 'package')} loaded`));
  return lines;
}

export function renderHandles({ environment }: Account, page: Page): string[] {
  const handles = environment?.handles ?? [];
  const connections = environment?.connections ?? [];
  const lines = renderTable(
    page,
    ['open', 'count', ''],
    handles.slice(0, maxRows).map((h) => [h.kind, formatNumber(h.count), clip(h.detail ?? '', 120)]),
  );
  if (handles.length > maxRows) lines.push(page.palette.faint(`… ${handles.length - maxRows} more kinds`));
  const peers = connections.filter((c) => c.remote && c.state !== 'LISTEN');
  lines.push(
    ...renderTable(
      page,
      ['connection', 'to', 'state'],
      peers.slice(0, 8).map((c) => [c.protocol, c.remote ?? '', c.state ?? '']),
    ),
  );
  if (peers.length > 8) lines.push(page.palette.faint(`… ${peers.length - 8} more connections`));
  return lines;
}
