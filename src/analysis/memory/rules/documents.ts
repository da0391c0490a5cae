/** Documents of a retrieval pipeline (text with metadata) that are kept after their use. */
import { formatNumber } from '../../../model/quantities.ts';
import { largestOf } from '../questions/node-rows.ts';
import { generalPath } from '../questions/paths.ts';
import { computeAgentMemory } from '../suspects/agent-memory.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';

const leastShare = 0.05;
/** Fewer are an index of something that was written by people. */
const fewest = 1000;

export const documentsRule: SuspectRule = {
  name: 'documents',
  find(context) {
    const { heap, totalBytes } = context;
    const { documents } = computeAgentMemory(heap);
    const bytes = documents.reduce((sum, node) => sum + heap.retained[node]!, 0);
    if (bytes < totalBytes * leastShare || (documents.length < fewest && !context.tellsAll)) return [];
    const largest = largestOf(heap, documents);
    return [
      suspectAt(context, 'documents', largest, bytes, {
        title: `${formatNumber(documents.length)} documents hold ${shareText(bytes, context)}`,
        sentence: `${shareText(bytes, context)} is ${formatNumber(documents.length)} documents (text with metadata) retained by ${generalPath(heap, largest)}.`,
        confidence: 'possible',
        evidence: [`${documents.length} objects with pageContent and metadata, retaining ${bytes} bytes`],
        refutedBy: 'They are an index in memory on purpose.',
      }),
    ];
  },
};
