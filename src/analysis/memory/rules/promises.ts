/** More promises than anything but unfinished work explains. */
import { formatNumber } from '../../../model/quantities.ts';
import { largestOf } from '../questions/node-rows.ts';
import { commonHolder } from '../suspects/common-holder.ts';
import { placeText, type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';
import { countClass } from './counted-class.ts';

const leastCount = 10_000;
const leastShare = 0.03;

export const promisesRule: SuspectRule = {
  name: 'pending-promises',
  find(context) {
    const found = countClass(context.heap, 'Promise');
    if (!found || (found.count < leastCount && found.bytes < context.totalBytes * leastShare)) return [];
    const { count, bytes } = found;
    if (count < 100) return [];
    const members = found.members();
    if (!members.length) return [];
    const holder = commonHolder(context.heap, members);
    const at = holder < 0 ? largestOf(context.heap, members) : holder;
    return [
      suspectAt(context, 'pending-promises', at, bytes, {
        title: `${formatNumber(count)} promises hold ${shareText(bytes, context)}`,
        sentence: `${formatNumber(count)} promises keep ${shareText(bytes, context)} alive, most of them at ${placeText(context.heap, at)}: work that was started and never settled, or results that nobody lets go of.`,
        confidence: 'possible',
        evidence: [
          `${count} Promise objects, retained together ${bytes} bytes`,
          'a snapshot does not say which of them are pending',
        ],
        refutedBy: 'Their number falls once the requests in flight are done.',
      }),
    ];
  },
};
