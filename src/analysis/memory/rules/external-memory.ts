/** Memory outside of the JavaScript heap, owned by Buffers and typed arrays. */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import { forEachNamed } from '../questions/node-rows.ts';
import { computeAgentMemory } from '../suspects/agent-memory.ts';
import { commonHolder } from '../suspects/common-holder.ts';
import { isCrowdOf } from '../suspects/crowds.ts';
import { isOfWasm } from '../suspects/made-at-once.ts';
import {
  leastLargeBytes,
  placeText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const leastShare = 0.2;
/** Fewer large buffers may have nothing in common. */
const fewestTogether = 8;

export const externalMemoryRule: SuspectRule = {
  name: 'external-memory',
  find(context) {
    const { heap, totalBytes } = context;
    const { type } = heap.snapshot.nodes;
    let bytes = 0;
    const stores: number[] = [];
    let largest = -1;
    forEachNamed(heap, 'system / JSArrayBufferData', (node) => {
      if (type[node] !== NodeType.native) return;
      stores.push(node);
      bytes += heap.selfSize.get(node);
      if (largest < 0 || heap.selfSize.get(node) > heap.selfSize.get(largest)) largest = node;
    });
    // Vectors have a rule of their own, which describes them better.
    const vectors = computeAgentMemory(heap).embeddings.reduce((sum, { bytes }) => sum + bytes, 0);
    if (largest < 0 || bytes - vectors < Math.max(totalBytes * leastShare, leastLargeBytes)) return [];
    // Many of the small buffers are Node's own.
    const typical = stores.filter((node) => heap.selfSize.get(node) * stores.length * 2 >= bytes);
    if (!context.tellsAll && !isCrowdOf(heap, typical) && !isOfWasm(heap, largest)) return [];
    const holder = typical.length >= fewestTogether ? commonHolder(heap, typical) : -1;
    const held =
      holder < 0 ? '' : `, ${formatNumber(typical.length)} of them below ${placeText(heap, holder)}`;
    return [
      suspectAt(context, 'external-memory', holder < 0 ? largest : holder, bytes, {
        title: `Buffers hold ${shareText(bytes, context)}`,
        sentence: `${shareText(bytes, context)} is the memory of ${formatNumber(stores.length)} Buffers and typed arrays${held}; the largest, ${formatBytes(heap.selfSize.get(largest))}, is at ${placeText(heap, largest)}. It counts as external memory, not against the heap limit.`,
        confidence: 'possible',
        evidence: [`${stores.length} backing stores, ${bytes} bytes`],
        refutedBy: 'That much data is being worked on at this moment.',
      }),
    ];
  },
};
