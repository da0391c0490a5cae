/** What the bundle's heap snapshot tells: classes and suspects. A large one is left to `agentdump heap`, and said so. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { MemoryFacts } from '../../model/account.ts';
import type { ConversationCandidate } from '../../model/agent-state.ts';
import type { Gap } from '../../model/verdict.ts';
import type { AnalyzableBundle } from '../bundle-parts.ts';

/** Compressed; about ten times as much is read. More would keep whoever waits for the verdict waiting. */
const mostBytes = 32 * 1024 * 1024;
const part = partNames.heapSnapshot;

/** What the writer of the snapshot held while it wrote. */
const ourOwn = /<symbol agentdump\.|register\.cjs:(?:cold|recording)-half/;

export type HeapFacts = Pick<MemoryFacts, 'classes' | 'suspects' | 'retained'> & {
  /** Arrays that look like conversations. */
  candidates?: ConversationCandidate[];
};

/** Nothing when there is no snapshot. Never throws: what cannot be read is a gap. */
export async function readHeapFacts(bundle: AnalyzableBundle, gaps: Gap[]): Promise<HeapFacts | undefined> {
  const size = bundle.parts.find(({ name }) => name === part)?.bytes;
  if (size === undefined) return undefined;
  if (size > mostBytes) {
    gaps.push({ part, reason: `a large snapshot is not read here: agentdump heap ${bundle.path}` });
    return undefined;
  }
  const bytes = bundle.readPart(part);
  if (!bytes) return undefined;
  try {
    return await computeFacts(Buffer.from(bytes), gaps);
  } catch (error) {
    gaps.push({ part, reason: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Loaded only where there is a heap: the engine is large. */
async function computeFacts(bytes: Buffer, gaps: Gap[]): Promise<HeapFacts> {
  const [{ openHeap }, { computeMemoryFacts }, { findConversationCandidates }] = await Promise.all([
    import('../memory/heap.ts'),
    import('../memory/memory-facts.ts'),
    import('../memory/suspects/conversation-candidates.ts'),
  ]);
  const heap = await openHeap(bytes, { threads: 1 });
  try {
    for (const { section, reason } of heap.snapshot.gaps)
      gaps.push({ part, reason: `${section}: ${reason}` });
    if (!heap.snapshot.hasAllEdges) return {};
    const { classes, suspects, retained } = computeMemoryFacts(heap, part);
    const candidates = findConversationCandidates(heap);
    return {
      classes,
      retained,
      suspects: suspects.filter(({ sentence }) => !ourOwn.test(sentence)),
      ...(candidates.length && { candidates }),
    };
  } finally {
    heap.snapshot.close();
  }
}
