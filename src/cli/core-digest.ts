/** What supervision needs of analysis, which it does not know itself: a core cut down, its heap, the signature of a death. */
import { analyzeBundle } from '../analysis/analyze.ts';
import { writeMiniCore } from '../analysis/core/mini/mini-core.ts';
import { openBundle } from '../bundle/read/reader.ts';
import type { HeapReader } from '../supervise/native/copied-heap.ts';
import type { CoreDigest } from '../supervise/native/core-part.ts';

export const digestCore: CoreDigest = async (from, to, scrubber) => {
  const { account } = await writeMiniCore(from, to, { redactor: scrubber });
  return { verdictKind: account.verdict?.kind, nodeVersion: account.process?.nodeVersion };
};

export const readHeap: HeapReader = async (core, planted) => {
  const [{ readCoreGraph }, { snapshotText }] = await Promise.all([
    import('../analysis/core/graph/core-graph.ts'),
    import('../analysis/core/graph/snapshot-text.ts'),
  ]);
  const { columns, isCollecting, gaps } = readCoreGraph(core);
  return { text: snapshotText(columns, planted), isCollecting, gaps: gaps.map(({ reason }) => reason) };
};

/** Undefined for a bundle that can't be read, as one that is encrypted. */
export async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const bundle = openBundle(path);
    try {
      return (await analyzeBundle(bundle)).signature?.id;
    } finally {
      bundle.close();
    }
  } catch {
    return undefined;
  }
}
