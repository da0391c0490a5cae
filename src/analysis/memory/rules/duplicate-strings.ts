/** Many copies of the same texts: ids, paths or prompts that are built again each time. */

import type { HeapStringRow } from '../../../model/heap.ts';
import { clip, formatBytes, formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { computeDuplicateStrings } from '../questions/duplicate-strings.ts';
import {
  isLargeShare,
  leastLargeBytes,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.15;
/** After memory ran out. */
const leastShareOfAll = 0.05;
/** For truncated texts, which may only begin alike, such as the sources of modules with the same licence. */
const leastUnsureShare = 0.3;

/**
 * What a program defines is repeated in tens (a label in each of its languages, the name of a method in each class); what it
 * does, in hundreds. Fewer count if the copies of one text are large by themselves.
 */
const fewestCopies = 100;
const isRepeated = (copies: number, size: number): boolean =>
  copies >= fewestCopies || (copies - 1) * size >= leastLargeBytes;

export const duplicateStringsRule: SuspectRule = {
  name: 'duplicate-strings',
  find(context) {
    const { heap, totalBytes } = context;
    const least = totalBytes * (context.tellsAll ? leastShareOfAll : leastShare);
    if (stringBytes(heap) < least) return [];
    const counts = context.tellsAll ? undefined : isRepeated;
    const { wastedBytes, unsureBytes, rows } = computeDuplicateStrings(heap, 1, false, counts);
    if (!rows.length || wastedBytes < least) return [];
    const isSure = wastedBytes - unsureBytes >= least;
    if (!isSure && !isLargeShare(context, wastedBytes, leastUnsureShare)) return [];
    // Who holds them is only asked if it is told.
    const worst = computeDuplicateStrings(heap, 1, true, counts).rows[0]!;
    const node = heap.snapshot.findById(worst.id);
    const are = isSure
      ? 'is copies of strings that the heap has already'
      : 'may be copies: strings of one size with the same first 1,024 characters, which is all that a snapshot has of them';
    return [
      suspectAt(context, 'duplicate-strings', node, wastedBytes, {
        title: `${isSure ? 'Copies of equal strings' : 'Strings that begin alike'}: ${shareText(wastedBytes, context)}`,
        sentence: `${shareText(wastedBytes, context)} ${are}; the worst, ${JSON.stringify(clip(worst.value, 60))}, is there ${formatNumber(worst.count)} times and wastes ${formatBytes(worst.wastedBytes)}.`,
        confidence: isSure ? 'likely' : 'possible',
        evidence: [
          `${formatBytes(wastedBytes)} in strings with the same text and size as another one, ${formatBytes(unsureBytes)} of it in texts that the snapshot cuts`,
          `the worst is held by ${holdersText(worst)}`,
        ],
        refutedBy:
          'The strings differ after their first 1,024 characters, which is as far as a snapshot shows them.',
      }),
    ];
  },
};

function stringBytes({ classes, aggregates }: Heap): number {
  return classes.kinds.reduce(
    (sum, { name }, row) => (name === '(string)' ? sum + aggregates.selfSize[row]! : sum),
    0,
  );
}

function holdersText({ holders = [], count }: HeapStringRow): string {
  const rest = holders.reduce((left, holder) => left - holder.count, count);
  return [
    ...holders.map(({ holder, count: times, path }) => `${holder} (${formatNumber(times)}, at ${path})`),
    ...(rest > 0 ? [`others (${formatNumber(rest)})`] : []),
  ].join(', ');
}
