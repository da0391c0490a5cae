/**
 * Classes and suspects from the bundle's heap snapshot. A large snapshot is left to `agentdump heap`, with a gap that says
 * so.
 */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { MemoryFacts } from '../../model/account.ts';
import type { ConversationCandidate } from '../../model/agent-state.ts';
import type { Gap } from '../../model/verdict.ts';
import type { AnalyzableBundle } from '../bundle-parts.ts';

/** Size of the compressed part; about ten times as much is read. A larger one would delay the verdict too much. */
const mostBytes = 32 * 1024 * 1024;
const part = partNames.heapSnapshot;

/** Objects of the recorder itself, which wrote the snapshot. */
const ourOwn = /<symbol agentdump\.|register\.cjs:(?:cold|recording)-half/;

export type HeapFacts = Pick<MemoryFacts, 'classes' | 'suspects' | 'retained'> & {
  /** Arrays that look like conversations. */
  candidates?: ConversationCandidate[];
};

/** Undefined without a snapshot. Never throws: what can't be read becomes a gap. */
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

/** Imported only if there is a heap, because the engine is large. */
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
