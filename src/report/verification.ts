/** What verification found, for people: the answer, then the parts that are not as written. */
import { formatCount } from '../model/quantities.ts';
import { defuseWorkflowCommands, escapeLine } from './escape-terminal.ts';
import { type Palette, plainPalette } from './palette.ts';
import { renderTable } from './text/table.ts';

/** The shape in which the bundle room verifies. */
export interface VerificationLines {
  id: string;
  verdict: 'whole' | 'torn' | 'altered';
  parts: readonly { name: string; bytes: number; state: string; problem?: string }[];
  extra: readonly string[];
}

const answers = {
  whole: 'Whole: every part is as it was sealed.',
  torn: 'Torn: the writer was stopped before the seal; what is there is as it was written.',
  altered: 'Altered: this is not what the writer sealed.',
} as const;

export function renderVerification(
  { id, verdict, parts, extra }: VerificationLines,
  { palette = plainPalette, columns = 100 }: { palette?: Palette; columns?: number } = {},
): string {
  const paint = { whole: palette.good, torn: palette.warn, altered: palette.bad }[verdict];
  const odd = parts.filter((part) => part.state !== 'whole');
  const rows = [
    ...odd.map(({ name, state, problem }) => [name, state, problem ?? '']),
    ...extra.map((name) => [name, 'extra', 'the manifest does not name it']),
  ].map((row) => row.map(escapeLine));
  const lines = [
    paint(answers[verdict]),
    palette.faint(
      `bundle ${escapeLine(id)}, ${formatCount(parts.length, 'part')}, ${parts.length - odd.length} whole`,
    ),
    ...renderTable({ palette, columns }, ['part', 'state', ''], rows),
  ];
  return `${defuseWorkflowCommands(lines.join('\n'))}\n`;
}
