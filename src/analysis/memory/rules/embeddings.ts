/** Many vectors of one length: embeddings kept in memory. */
import { formatNumber } from '../../../model/quantities.ts';
import { generalPath } from '../questions/paths.ts';
import { computeAgentMemory } from '../suspects/agent-memory.ts';
import { type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';

const leastShare = 0.05;
/** Of fewer, only after memory ran out. */
const leastCount = 1000;
const leastCountOfAll = 50;

/**
 * A capacity of 2,048 of anything (`new Array(2048)`, as in one of Node's own queues) looks like 2,048 numbers. So plain
 * arrays only count if a name on their path suggests vectors.
 */
const vectorNames = /embed|vector|feature|weight|tensor|centroid|latent/i;

export const embeddingsRule: SuspectRule = {
  name: 'embeddings',
  find(context) {
    const { heap, totalBytes } = context;
    const least = context.tellsAll ? leastCountOfAll : leastCount;
    return computeAgentMemory(heap)
      .embeddings.filter(({ bytes, count }) => bytes >= totalBytes * leastShare && count >= least)
      .filter(({ kind, example }) => kind !== 'Array' || vectorNames.test(generalPath(heap, example)))
      .slice(0, 3)
      .map(({ bytes, count, dimensions, example }) =>
        suspectAt(context, 'embeddings', example, bytes, {
          title: `${formatNumber(count)} vectors hold ${shareText(bytes, context)}`,
          sentence: `${shareText(bytes, context)} is ${formatNumber(count)} vectors of ${formatNumber(dimensions)} numbers each, one of them retained by ${generalPath(heap, example)}: embeddings, by their number and length.`,
          confidence: 'possible',
          evidence: [`${count} number arrays of the same length ${dimensions}, ${bytes} bytes together`],
          refutedBy: 'They are an index in memory on purpose, or no embeddings at all (audio, images).',
        }),
      );
  },
};
