/**
 * One object that retains a tenth of the heap. Reported where the bytes accumulate: from the root down as long as one child
 * retains most of them (the "accumulation point" of Eclipse Memory Analyzer's leak suspects); for a list, its head.
 */
import { accumulationPoints, carriesOn, longChain } from '../suspects/accumulation.ts';
import { deepestHolder } from '../suspects/common-holder.ts';
import { isScope } from '../suspects/scope-variable.ts';
import {
  describeNode,
  isLargeShare,
  isModuleData,
  placeText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.1;

export const largeObjectRule: SuspectRule = {
  name: 'large-object',
  isGeneral: true,
  find(context) {
    const { heap } = context;
    return (
      accumulationPoints(heap, (bytes) => isLargeShare(context, bytes, leastShare))
        // Scopes are reported by their variable, if one retains most (closures.ts).
        .filter(({ node }) => !isModuleData(context, node) && !isScope(heap, node))
        .slice(0, 8)
        .map(({ node, links }) => {
          const bytes = heap.retained[node]!;
          const what = describeNode(heap, node);
          const below = heap.dominated.of(node).length;
          const isList = links >= longChain;
          const how = isList
            ? `the head of a chain of at least ${links} objects of its class`
            : `with ${below} objects directly below it`;
          const inside = deepestHolder(heap, node);
          const most = inside === node ? '' : `, most of it held by ${placeText(heap, inside)}`;
          return suspectAt(context, 'large-object', inside, bytes, {
            title: isList
              ? `A linked list holds ${shareText(bytes, context)}`
              : `One ${heap.className(node)} holds ${shareText(bytes, context)}`,
            sentence: `${what} at ${placeText(heap, node)} keeps ${shareText(bytes, context)} alive, ${how}${most}; free it, or cut it down, and that memory goes.`,
            confidence: 'possible',
            evidence: [
              `retained size ${bytes} bytes of ${context.totalBytes}`,
              isList
                ? `${links} links of one class dominate each other`
                : `no single child holds more than ${Math.round(carriesOn * 100)} % of it`,
            ],
            refutedBy:
              'The object is meant to be that large, and does not grow between two snapshots (heap diff).',
          });
        })
    );
  },
};
