/** The heap of a core or of a living process in the format of a heap snapshot, redacted like a snapshot on the disk. */
import type { CoreGraph, CoreGraphOptions } from '../../../analysis/core/graph/core-graph.ts';
import type { ValueInMemory } from '../../../analysis/memory/questions/heap-value.ts';
import type { SnapshotRecords } from '../../../formats/heapsnapshot/index.ts';
import type { Gap } from '../../../model/verdict.ts';
import { openProcess, requireSame, type Watched } from './process-input.ts';

export interface CoreHeap {
  /** To be read once: as text for a file, or as records for the engine, which is much faster. */
  input: AsyncIterable<Uint8Array> & SnapshotRecords;
  /** Id of the node at an address of the process. */
  nodeAt(address: number): number | undefined;
  /** The object that `inspect` requested. */
  inMemory?: ValueInMemory | undefined;
  gaps: Gap[];
}

/** An object to read from memory itself, with at most `limit` of its contents. */
export interface Inspected {
  /** `@` and an id, or an address. */
  word: string;
  limit: number;
}

/** What is wanted of a heap. */
export interface Wanted {
  inspected?: Inspected | undefined;
  /** The kernel's id of the thread whose heap it is, if not the main thread's. */
  thread?: number | undefined;
  /** Only its text is read, for which edges are not kept. */
  isText?: boolean | undefined;
}

/** @throws like readAnyCoreGraph. */
export function readCore(path: string, executable: string | undefined, wanted: Wanted): Promise<CoreHeap> {
  return inSnapshotFormat(async (options) => {
    const { readAnyCoreGraph } = await import('../../../analysis/core/graph/core-graph.ts');
    return readAnyCoreGraph(path, { ...options, ...(executable !== undefined && { executable }) });
  }, wanted);
}

/** Of a living process. @throws like openProcess. */
export function readProcess(pid: number, wanted: Wanted = {}): Promise<CoreHeap> {
  return inSnapshotFormat((options) => openProcess(pid, options), wanted);
}

/** Of a living process that was looked at before. @throws like openProcess, and if it is another one. */
export async function readWatched(watched: Watched, wanted: Wanted): Promise<CoreHeap> {
  requireSame(watched);
  return readProcess(watched.pid, wanted);
}

async function inSnapshotFormat(
  open: (options: CoreGraphOptions) => Promise<CoreGraph>,
  { inspected, thread, isText = false }: Wanted,
): Promise<CoreHeap> {
  const { openHeapInput } = await import('../../../analysis/core/graph/heap-input.ts');
  const look = inspected && (await inspector(inspected));
  const { input, graph, gaps } = await openHeapInput(open, {
    strings: process.env['AGENTDUMP_HEAP_STRINGS'] === 'clean' ? 'clean' : 'names',
    isText,
    ...(thread !== undefined && { thread }),
    ...(look && { onGraph: look.onGraph }),
  });
  return { input, nodeAt: (address) => graph.idAt(address), inMemory: look?.found(), gaps };
}

/**
 * Reads the object while the core is open, redacted like texts of the process; the secrets in the process's own variables are
 * known.
 */
async function inspector({ word, limit }: Inspected) {
  const [{ inspectObject }, { findVariables }, { makeScrubber }] = await Promise.all([
    import('../../../analysis/core/graph/inspect-object.ts'),
    import('../../../analysis/core/process/start-words.ts'),
    import('../../../supervise/scrub/scrubber.ts'),
  ]);
  let found: ValueInMemory | undefined;
  const onGraph: CoreGraphOptions['onGraph'] = (graph, v8, dump) => {
    const digits = /^@?(0x[0-9a-f]{1,13}|\d{1,10})$/i.exec(word)?.[1];
    const id = digits?.startsWith('0x') ? graph.idAt(Number(digits)) : Number(digits);
    const address = id === undefined ? undefined : graph.addressOf(id);
    if (address === undefined) return;
    const policy = makeScrubber({ ...process.env, ...findVariables(dump) });
    const value = inspectObject(v8, address + 1, limit, (text) => policy.text(text));
    if (!value) return;
    found = {
      ...value,
      entries: value.entries.map(({ key, text, pointer }) => ({
        key,
        text,
        id: (pointer === undefined ? undefined : graph.idAt(pointer)) ?? 0,
      })),
    };
  };
  return { onGraph, found: () => found };
}
