/** The wording of a difference, the same in text and Markdown: sections, rows and values. Without colours. */
import type { BundleDiff, DiffChange, DiffSection, DiffValue } from '../../model/diff.ts';
import { clip, formatBytes, formatDuration, formatNumber } from '../../model/quantities.ts';
import { oneLine } from '../text/layout.ts';

export const sectionTitles: Record<DiffSection, string> = {
  verdict: 'Verdict',
  error: 'Error',
  frames: 'Stack of the death',
  packages: 'Packages',
  node: 'Node',
  argv: 'Command line',
  environment: 'Environment',
  limits: 'Limits',
  memory: 'Memory',
  handles: 'Handles',
  agent: 'Agent',
  config: 'Configuration',
};

const marks = { added: '+', removed: '-', changed: '~', grew: '↑', shrank: '↓' } as const;
const maxValueChars = 160;

/** The sections with changes, in the order of the document. */
export function changesBySection(diff: BundleDiff): [DiffSection, DiffChange[]][] {
  const sections = new Map<DiffSection, DiffChange[]>();
  for (const change of diff.changes) {
    const found = sections.get(change.section);
    if (found) found.push(change);
    else sections.set(change.section, [change]);
  }
  return [...sections];
}

/** `~ zod  3.25.0 → 4.6.7`. */
export function changeLine(change: DiffChange): { mark: string; subject: string; values: string } {
  const { before, after } = change;
  const values = [before, after]
    .filter((value) => value !== undefined)
    .map((value) => valueText(value, change));
  return { mark: marks[change.change], subject: oneLine(change.subject), values: values.join(' → ') };
}

export function valueText(value: DiffValue | DiffValue[], change: DiffChange): string {
  if (Array.isArray(value)) return rangeText(value, change);
  if (typeof value === 'string') return clip(oneLine(value), maxValueChars) || '(empty)';
  if (change.unit === 'bytes') return formatBytes(value);
  return change.unit === 'ms' ? formatDuration(value) : formatNumber(value);
}

/** For a baseline: the range of numbers, the most frequent text. */
function rangeText(values: DiffValue[], change: DiffChange): string {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === values.length && numbers.length > 1)
    return `${valueText(Math.min(...numbers), change)} to ${valueText(Math.max(...numbers), change)}`;
  const shown = values.slice(0, 3).map((value) => valueText(value, change));
  return shown.join(' or ') + (values.length > 3 ? ` or ${values.length - 3} others` : '');
}
