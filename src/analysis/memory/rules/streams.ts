/** Data waiting in streams: the reader is slower than the writer, and the result of write() is ignored. */
import { formatNumber } from '../../../model/quantities.ts';
import { largestOf } from '../questions/node-rows.ts';
import { placeText, type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';
import { countClass } from './counted-class.ts';

const leastShare = 0.05;

export const streamsRule: SuspectRule = {
  name: 'stream-buffers',
  find(context) {
    const found = countClass(context.heap, /^(ReadableState|WritableState|BufferList)$/);
    if (!found || found.bytes < context.totalBytes * leastShare) return [];
    const { count, bytes } = found;
    const largest = largestOf(context.heap, found.members());
    if (largest < 0) return [];
    return [
      suspectAt(context, 'stream-buffers', largest, bytes, {
        title: `Streams buffer ${shareText(bytes, context)}`,
        sentence: `${shareText(bytes, context)} waits in the buffers of ${formatNumber(count)} stream states, most of it at ${placeText(context.heap, largest)}: heed backpressure (pipeline, or wait for drain).`,
        confidence: 'likely',
        evidence: [
          `${count} stream states retain ${bytes} bytes, the largest ${context.heap.retained[largest]}`,
        ],
        refutedBy: 'The streams are set to buffer that much (highWaterMark).',
      }),
    ];
  },
};
