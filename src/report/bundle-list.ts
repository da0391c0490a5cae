/** The bundles of a folder as a table for people: when, what, how it died, how big, and the word that names it. */
import { clip, formatBytes, formatCount, formatDuration } from '../model/quantities.ts';
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
  error?: string;
  bytes: number;
  gaps: number;
  sequel?: { event: 'recovered' | 'ended' | 'died' | 'handling'; silentMs?: number; exitCode?: number };
  problem?: string;
}

export function renderBundleList(
  bundles: readonly BundleLine[],
  { palette = plainPalette, columns = 100 }: { palette?: Palette; columns?: number } = {},
): string {
  const facts = bundles.map((bundle) =>
    [
      bundle.shortId,
      bundle.at.replace(/^(.{10})T(.{8}).*$/, '$1 $2'),
      bundle.program ?? '',
      bundle.verdictKind ?? '',
      formatBytes(bundle.bytes),
    ].map(escapeLine),
  );
  const left = columns - widthOf(facts);
  const rows = bundles.map((bundle, at) => [...facts[at]!, escapeLine(noteOf(bundle, left))]);
  const lines = renderTable(
    { palette, columns },
    ['id', 'when (UTC)', 'program', 'verdict', 'size', ''],
    rows,
  );
  return `${defuseWorkflowCommands(lines.join('\n'))}\n`;
}

/** Of the columns with a gap behind each. */
const widthOf = (rows: readonly (readonly string[])[]): number =>
  rows[0]?.reduce(
    (sum, _, at) => sum + 2 + rows.reduce((most, row) => Math.max(most, row[at]!.length), 0),
    0,
  ) ?? 0;

const leastError = 24;

/** The error in what is left of the line, if that is enough to tell two of them apart. */
function noteOf({ state, gaps, problem, name, sequel, error = '' }: BundleLine, left: number): string {
  if (problem !== undefined) return `unreadable: ${problem} (${name})`;
  const words = [state === 'sealed' ? '' : state, gaps > 0 ? formatCount(gaps, 'gap') : '', sequelOf(sequel)];
  const note = words.filter(Boolean).join(', ');
  const room = left - (note ? note.length + 2 : 0);
  return [note, room >= leastError ? clip(error, room) : ''].filter(Boolean).join('; ');
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
