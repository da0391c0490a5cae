/** Results of tools that the conversation keeps: file contents, pages, query results. */
import { formatBytes, formatNumber } from '../../../model/quantities.ts';
import { generalPath } from '../questions/paths.ts';
import { computeAgentMemory } from '../suspects/agent-memory.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';

const leastShare = 0.05;

export const toolResultsRule: SuspectRule = {
  name: 'tool-results',
  find(context) {
    const { heap, totalBytes } = context;
    const { toolResults } = computeAgentMemory(heap);
    return toolResults
      .filter(({ retainedSizeBytes }) => retainedSizeBytes >= totalBytes * leastShare)
      .slice(0, 4)
      .map(({ tool, count, retainedSizeBytes: bytes, largest }) => {
        const place = generalPath(heap, largest);
        const whose = tool.startsWith('(') ? '' : ` of ${tool}`;
        return suspectAt(context, 'tool-results', largest, bytes, {
          title: `Tool results${whose}: ${shareText(bytes, context)}`,
          sentence: `${shareText(bytes, context)} is ${formatNumber(count)} tool results${whose} retained by ${place}: keep an excerpt in the conversation and the rest on disk.`,
          confidence: 'likely',
          evidence: [
            `${count} objects with the properties of a tool result, ${formatBytes(bytes / count)} each on average`,
            `the largest retains ${formatBytes(heap.retained[largest]!)}`,
          ],
          refutedBy: 'The results are needed in full for the next model call, and are freed after the run.',
        });
      });
  },
};
