/** The bundles of a folder as a table for people: when, what, how it died, how big, and the word that names it. */
import { formatBytes, formatCount, formatDuration } from '../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from './escape-terminal.ts';
import { type Palette, plainPalette } from './palette.ts';
import { renderTable } from './text/table.ts';

/** One line of the table; the format in which the bundle room lists. */
export interface BundleLine {
  at: string;
  shortId: string;
  name: string;
  state: string;
  program?: string;
  verdictKind?: string;
  bytes: number;
  gaps: number;
  sequel?: { event: 'recovered' | 'ended' | 'died' | 'handling'; silentMs?: number; exitCode?: number };
  problem?: string;
}

export function renderBundleList(
  bundles: readonly BundleLine[],
  { palette = plainPalette, columns = 100 }: { palette?: Palette; columns?: number } = {},
): string {
  const rows = bundles.map((bundle) =>
    [
      bundle.shortId,
      bundle.at.replace(/^(.{10})T(.{8}).*$/, '$1 $2'),
      bundle.program ?? '',
      bundle.verdictKind ?? '',
      formatBytes(bundle.bytes),
      noteOf(bundle),
    ].map(escapeLine),
  );
  const lines = renderTable(
    { palette, columns },
    ['id', 'when (UTC)', 'program', 'verdict', 'size', ''],
    rows,
  );
  return `${defuseWorkflowCommands(lines.join('\n'))}\n`;
}

function noteOf({ state, gaps, problem, name, sequel }: BundleLine): string {
  if (problem !== undefined) return `unreadable: ${problem} (${name})`;
  const words = [state === 'sealed' ? '' : state, gaps > 0 ? formatCount(gaps, 'gap') : '', sequelOf(sequel)];
  return words.filter(Boolean).join(', ');
}

function sequelOf(sequel: BundleLine['sequel']): string {
  if (sequel?.event === 'handling') return 'its handler was not seen to return';
  if (sequel?.event === 'died' && sequel.exitCode === undefined) return 'it died in it';
  if (sequel?.exitCode !== undefined) return `it ended with exit code ${sequel.exitCode}`;
  if (sequel?.event === 'ended') return 'it ended by itself';
  return sequel
    ? `came back${sequel.silentMs === undefined ? '' : ` after ${formatDuration(sequel.silentMs)}`}`
    : '';
}
