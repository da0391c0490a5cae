/** The same texts over and over: ids, paths, prompts that are built anew each time. */
import { clip, formatBytes, formatNumber } from '../../../model/quantities.ts';
import { computeDuplicateStrings } from '../duplicate-strings.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspect-context.ts';

const leastShare = 0.05;

export const duplicateStringsRule: SuspectRule = {
  name: 'duplicate-strings',
  find(context) {
    const { heap, totalBytes } = context;
    const { wastedBytes, rows } = computeDuplicateStrings(heap, 1);
    const worst = rows[0];
    if (!worst || wastedBytes < totalBytes * leastShare) return [];
    const node = heap.snapshot.findById(worst.id);
    return [
      suspectAt(context, 'duplicate-strings', node, wastedBytes, {
        title: `Copies of equal strings: ${shareText(wastedBytes, context)}`,
        sentence: `${shareText(wastedBytes, context)} is copies of strings that the heap has already; the worst, ${JSON.stringify(clip(worst.value, 60))}, is there ${formatNumber(worst.count)} times and wastes ${formatBytes(worst.wastedBytes)}.`,
        confidence: 'likely',
        evidence: [`${formatBytes(wastedBytes)} in strings with the same text and size as another one`],
        refutedBy:
          'The strings differ after their first 1,024 characters, which is as far as a snapshot shows them.',
      }),
    ];
  },
};
