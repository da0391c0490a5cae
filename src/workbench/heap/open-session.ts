/** Opens the heap of a snapshot file or of a bundle, and reports its progress. Throws if it can't be read. */
import { type Heap, openHeap } from '../../analysis/memory/heap.ts';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { SnapshotInput } from '../../formats/heapsnapshot/index.ts';
import { formatBytes } from '../../model/quantities.ts';
import type { Gap } from '../../model/verdict.ts';
import type { Progress } from '../protocol.ts';
import { HeapSession } from './session.ts';

export interface HeapPlace {
  path: string;
  /** The name to show. */
  name: string;
  isBundle: boolean;
  keys?: Keys | undefined;
}

type Say = (progress: Progress) => void;

export interface OpenedSnapshot {
  heap: Heap;
  gaps: Gap[];
  close(): void;
}

const betweenMs = 100;

const phases: Record<string, string> = {
  tree: 'computing dominators',
  retained: 'computing retained sizes',
  selfSize: 'finding owners of internal parts',
  distances: 'measuring distances',
  classes: 'naming classes',
  aggregates: 'summing up classes',
  retainers: 'indexing references',
  dominated: 'indexing the dominator tree',
  order: 'sorting objects',
  strings: 'finding duplicate strings',
  fill: 'measuring collections',
  suspects: 'looking for suspects',
};

export async function openSession(place: HeapPlace, say: Say): Promise<HeapSession> {
  const { heap, gaps } = await openSnapshot(place, say);
  return new HeapSession(heap, place.name, gaps, phaseSayer(say));
}

export async function openSnapshot({ path, isBundle, keys }: HeapPlace, say: Say): Promise<OpenedSnapshot> {
  const bundle = isBundle ? openBundle(path, keys) : undefined;
  try {
    const name = partNames.heapSnapshot;
    const part = bundle && (bundle.openPartFile(name) ?? bundle.openBegunPart(name));
    if (bundle && !part)
      throw new AgentdumpError('not-found', 'this bundle has no heap snapshot', { path, name });
    const input: SnapshotInput = part ? copies(part.chunks(1 << 18)) : path;
    let saidAt = 0;
    const heap = await openHeap(input, {
      threads: 2,
      ...(part && { sizeBytes: part.bytes }),
      onPhase: phaseSayer(say),
      onProgress(done, total) {
        if (performance.now() - saidAt < betweenMs) return;
        saidAt = performance.now();
        say({ text: readingText(done, total), ...(total && { share: Math.min(1, done / total) }) });
      },
    });
    if (!heap.snapshot.hasAllEdges) {
      const [gap] = heap.snapshot.gaps;
      throw new AgentdumpError('malformed-input', `the snapshot was cut: ${gap?.reason}`, { path });
    }
    say({ text: 'computing dominators' });
    await heap.prepare();
    const gaps = heap.snapshot.gaps.map(({ section, reason }) => ({
      part: `heap snapshot, ${section}`,
      reason,
    }));
    const close = (): void => {
      heap.snapshot.close();
      bundle?.close();
    };
    return { heap, gaps, close };
  } catch (error) {
    bundle?.close();
    throw error;
  }
}

const readingText = (done: number, total: number | undefined): string =>
  total ? `reading, ${formatBytes(done)} of ${formatBytes(total)}` : `reading, ${formatBytes(done)}`;

const phaseSayer =
  (say: Say) =>
  (name: string): void =>
    say({ text: phases[name] ?? `computing ${name}` });

/** The chunks of a part share their memory, but a stream may hold several at a time. */
async function* copies(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
