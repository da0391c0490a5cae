/**
 * Functions of analysis that supervision uses through this file, because it must not import analysis: reducing a core,
 * reading its heap, the signature of a death.
 */
import { analyzeBundle } from '../../analysis/analyze.ts';
import { writeMiniCore } from '../../analysis/core/mini/mini-core.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { startThread } from '../../formats/heapsnapshot/index.ts';
import type { HeapReader } from '../../supervise/native/copied-heap.ts';
import type { CoreDigest } from '../../supervise/native/core-part.ts';
import type { HeapAnswer, HeapReading, HeapSource, ReadHeap } from '../../supervise/native/full-heap.ts';
import { isSealed } from '../../supervise/native/sealed-copy.ts';
import { MemberSpool } from '../../supervise/scrub/member-spool.ts';

export const digestCore: CoreDigest = async (from, to, scrubber) => {
  const { account } = await writeMiniCore(from, to, { redactor: scrubber });
  return {
    verdictKind: account.verdict?.kind,
    nodeVersion: account.process?.nodeVersion,
    problems: account.gaps.filter(({ part }) => part === 'core').map(({ reason }) => reason),
  };
};

export const readHeap: HeapReader = async (core, { redactorFor, planted, spare }) => {
  const [{ readCoreGraph }, { snapshotText }, { snapshotHeadText }, { withheldString }] = await Promise.all([
    import('../../analysis/core/graph/core-graph.ts'),
    import('../../analysis/core/graph/snapshot-text.ts'),
    import('../../analysis/core/graph/snapshot-head.ts'),
    import('../../redaction/snapshot/strings.ts'),
  ]);
  const { graph, isCollecting, gaps, close } = readCoreGraph(core, { withheld: withheldString });
  async function* text() {
    try {
      yield* snapshotText(graph, { redactor: redactorFor(snapshotHeadText(graph)), planted, spare });
    } finally {
      close();
    }
  }
  return { text: text(), isCollecting, gaps: gaps.map(({ reason }) => reason), close };
};

/** The thread's V8 heap holds texts; columns are outside of it. */
const threadHeapMb = 4096;

/** On a thread of its own, because a supervisor must not be blocked. */
export function readHeapApart(source: HeapSource, words: readonly string[]): HeapReading {
  const worker = startThread('cli/commands/heap/heap-thread', {}, { maxOldGenerationSizeMb: threadHeapMb });
  worker.ref();
  const spool = new MemberSpool();
  const result = new Promise<ReadHeap>((resolve, reject) => {
    worker.on('message', (answer: Uint8Array | HeapAnswer | string) => {
      if (typeof answer === 'string') reject(new Error(answer));
      else if (answer instanceof Uint8Array) spool.add(answer);
      else resolve({ ...answer, members: spool });
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('its reading was stopped')));
  });
  result.catch(() => spool.close());
  const kept = typeof source === 'string' || isSealed(source) ? [] : source.kept;
  const blocks = new Set(kept.map(({ bytes }) => bytes.buffer));
  worker.postMessage({ source, words }, [...blocks] as ArrayBuffer[]);
  return { result, stop: () => void worker.terminate() };
}

/** Undefined for a bundle that can't be read, such as an encrypted one. */
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
