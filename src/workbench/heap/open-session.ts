/** Opens the heap of a snapshot file or of a bundle, and reports its progress. Throws if it can't be read. */
import { type Heap, openHeap } from '../../analysis/memory/heap.ts';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { SnapshotInput } from '../../formats/heapsnapshot/index.ts';
import { formatBytes } from '../../model/quantities.ts';
import type { Gap } from '../../model/verdict.ts';
import type { ItemKind, Progress } from '../protocol.ts';
import { type CoreHeap, openCoreHeap } from './core-heap.ts';
import { HeapSession, type InMemory } from './session.ts';

export interface HeapPlace {
  path: string;
  /** The name to show. */
  name: string;
  kind: ItemKind;
  keys?: Keys | undefined;
  /** For a core whose executable is not at the recorded path. */
  executable?: string | undefined;
}

type Say = (progress: Progress) => void;

export interface OpenedSnapshot {
  heap: Heap;
  gaps: Gap[];
  /** For a core: what its memory shows beyond its graph. */
  inMemory?: InMemory;
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
  const { heap, gaps, inMemory } = await openSnapshot(place, say);
  return new HeapSession(heap, { source: place.name, gaps, inMemory }, phaseSayer(say));
}

export async function openSnapshot(place: HeapPlace, say: Say): Promise<OpenedSnapshot> {
  const { path, kind, keys } = place;
  const bundle = kind === 'bundle' ? openBundle(path, keys) : undefined;
  let core: CoreHeap | undefined;
  try {
    const name = partNames.heapSnapshot;
    const part = bundle && (bundle.openPartFile(name) ?? bundle.openBegunPart(name));
    if (bundle && !part)
      throw new AgentdumpError('not-found', 'this bundle has no heap snapshot', { path, name });
    if (kind === 'core') {
      say({ text: 'reading the core' });
      core = await openCoreHeap(path, place.executable);
    }
    const input: SnapshotInput = core?.input ?? (part ? copies(part.chunks(1 << 18)) : path);
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
    const gaps = [
      ...(core?.gaps ?? []),
      ...heap.snapshot.gaps.map(({ section, reason }) => ({ part: `heap snapshot, ${section}`, reason })),
    ];
    const close = (): void => {
      heap.snapshot.close();
      bundle?.close();
      core?.close();
    };
    return { heap, gaps, ...(core && { inMemory: core.inMemory }), close };
  } catch (error) {
    bundle?.close();
    core?.close();
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
