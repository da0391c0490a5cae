/** Many objects of one class that together hold a tenth of the heap, none of them large by itself. */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import { formatBytes } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { sourceOf, sourceText } from '../questions/scripts.ts';
import {
  isLargeShare,
  manyText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.1;
const leastCount = 100;

export const largeClassRule: SuspectRule = {
  name: 'large-class',
  isGeneral: true,
  find(context) {
    const { heap, totalBytes } = context;
    const { count, retainedSize } = heap.aggregates;
    return heap.classes.kinds
      .map((kind, row) => ({ kind, row, bytes: retainedSize[row]!, count: count[row]! }))
      .filter(
        ({ kind, bytes, count }) =>
          isLargeShare(context, bytes, leastShare) && count >= leastCount && isProgramClass(kind.name),
      )
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, 5)
      .map(({ kind, row, bytes, count }) => {
        const place = sourceText(sourceOf(heap, kind.place));
        return suspectAt(context, 'large-class', largestOf(heap, row), bytes, {
          title: `${manyText(count, kind.name)} objects hold ${shareText(bytes, context)}`,
          sentence: `${manyText(count, 'objects')} of class ${kind.name}${place ? ` (constructor at ${place})` : ''} keep ${shareText(bytes, context)} alive, ${formatBytes(bytes / count)} each on average; whatever collects them has no limit, or the wrong one.`,
          confidence: 'possible',
          evidence: [`${count} instances, retained together ${bytes} bytes of ${totalBytes}`],
          refutedBy: 'The number of instances stays the same between two snapshots (heap diff).',
        });
      });
  },
};

/** Strings, code, arrays and plain objects without a kind are nobody's class. */
function isProgramClass(name: string): boolean {
  return !/^\(|^(Object|Array|Function|Map|Set|Promise|Generator|RegExp|ArrayBuffer|Buffer)$|^system \/|^global|^Window/.test(
    name,
  );
}

function largestOf(heap: Heap, row: number): number {
  let largest = -1;
  for (let node = 0; node < heap.nodeCount; node++)
    if (heap.classes.of[node] === row && heap.snapshot.nodes.type[node] === NodeType.object)
      if (largest < 0 || heap.retained[node]! > heap.retained[largest]!) largest = node;
  return largest < 0 ? heap.root : largest;
}
