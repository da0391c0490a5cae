/**
 * The input of `heap`: a snapshot file, `-` for stdin, a bundle that contains a snapshot, a core, or a living process. Opens it,
 * with a progress bar on stderr if that is a terminal.
 */
import { closeSync, existsSync, statSync, writeSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, constants as zlib } from 'node:zlib';
import { type Heap, openHeap } from '../../../analysis/memory/heap.ts';
import type { FacetName } from '../../../analysis/memory/kernel/second-thread.ts';
import type { ValueInMemory } from '../../../analysis/memory/questions/heap-value.ts';
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { BundleReader } from '../../../bundle/read/reader.ts';
import { AgentdumpError } from '../../../errors.ts';
import type { Gap } from '../../../model/verdict.ts';
import { openNew } from '../../output/output.ts';
import { type CoreHeap, readCore, readProcess, readWatched, type Wanted } from './core-input.ts';
import { installInterrupt, runInterruptibly } from './interrupt.ts';
import { processOf, type Watched } from './process-input.ts';
import { ProgressBar } from './progress.ts';
import { sourceKind } from './source-kind.ts';

export interface OpenedHeap {
  heap: Heap;
  /** Runs a computation on it, which ends at Ctrl-C without leaving the bar behind. */
  compute<Result>(work: () => Result): Result;
  /** For a core: the id of the node at an address. */
  nodeAt?: ((address: number) => number | undefined) | undefined;
  /** For a core: the object that `inspected` requested. */
  inMemory?: ValueInMemory | undefined;
  /** What is missing in the file. */
  gaps: Gap[];
  close(): void;
}

const bundleEndings = /\.(agentdump|partial|zip|age)\/*$/;

/** Further options for reading a heap. */
export interface SourceOptions extends Wanted {
  /** The executable of a core, if not the one that it names. */
  executable?: string | undefined;
  /** Read it as a core regardless of its contents: called by `agentdump core`. */
  isCore?: boolean | undefined;
  /** It is the id of this living process: called with --watch. */
  watched?: Watched | undefined;
  /** What a second thread computes; everything if not given. */
  facets?: readonly FacetName[];
}

export async function openHeapAt(
  source: string,
  dir: string,
  threads: number,
  options: SourceOptions = {},
): Promise<OpenedHeap> {
  const bar = new ProgressBar(process.stderr);
  const {
    input,
    bundle,
    sizeBytes,
    nodeAt,
    inMemory,
    gaps: found = [],
  } = await findInput(source, dir, options);
  const removeInterrupt = installInterrupt(bar);
  try {
    const heap = await openHeap(input, {
      threads,
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
      onProgress: (done, total) => bar.reading(done, total),
      onPhase: (phase) => bar.phase(phase),
    });
    if (threads > 1 && heap.snapshot.hasAllEdges)
      await runInterruptibly(bar, () => heap.prepare(options.facets));
    const gaps = [
      ...found,
      ...heap.snapshot.gaps.map(({ section, reason }) => ({ part: `heap snapshot, ${section}`, reason })),
    ];
    return {
      heap,
      nodeAt,
      inMemory,
      gaps,
      compute: (work) => runInterruptibly(bar, work),
      close() {
        bar.clear();
        removeInterrupt();
        heap.snapshot.close();
        bundle?.close();
      },
    };
  } catch (error) {
    bar.clear();
    removeInterrupt();
    bundle?.close();
    throw error;
  }
}

/** Writes the heap of a core, a bundle or a living process as a new `.heapsnapshot` file that only its owner can read. */
export async function exportHeap(
  source: string,
  target: string,
  dir: string,
  options: SourceOptions,
): Promise<Gap[]> {
  const { input, bundle, gaps = [] } = await findInput(source, dir, { ...options, isText: true });
  if (typeof input === 'string' || source === '-')
    throw new AgentdumpError(
      'usage',
      `${source} is no bundle, core or process: only the heap of one of these can be written as a snapshot`,
      { argument: 'file' },
    );
  const fd = openNew(target);
  try {
    const text = bundle ? unzipped(input) : input;
    for await (const piece of text) for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at);
  } finally {
    closeSync(fd);
    bundle?.close();
  }
  return gaps;
}

/** The part of a bundle, which may be cut off. An error of its reading reaches whoever reads the text. */
function unzipped(part: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const text = createGunzip({ finishFlush: zlib.Z_SYNC_FLUSH });
  return pipeline(Readable.from(part), text, () => {});
}

interface HeapInput {
  input: string | AsyncIterable<Uint8Array> | CoreHeap['input'];
  bundle?: BundleReader;
  sizeBytes?: number;
  nodeAt?: (address: number) => number | undefined;
  inMemory?: ValueInMemory | undefined;
  gaps?: Gap[];
}

/** Whether it refers to a bundle, by path, number or age, and not to a file that contains a heap. */
export function isBundlePath(source: string): boolean {
  const isThere = existsSync(source);
  if (isThere && !statSync(source).isDirectory() && !bundleEndings.test(source)) return false;
  return isThere || !/heapsnapshot|heapprofile/.test(source);
}

async function findInput(source: string, dir: string, options: SourceOptions): Promise<HeapInput> {
  const found = await openInput(source, dir, options);
  if (options.thread === undefined || found.nodeAt) return found;
  found.bundle?.close();
  throw new AgentdumpError(
    'usage',
    `${source} is no core or process: --thread selects one of their heaps, and a snapshot has only one`,
    { argument: '--thread' },
  );
}

async function openInput(source: string, dir: string, options: SourceOptions): Promise<HeapInput> {
  if (options.isCore) return readCore(source, options.executable, options);
  if (options.watched) return readWatched(options.watched, options);
  if (source === '-') return { input: process.stdin };
  if (!isBundlePath(source)) return readFile(source, options);
  // Not loaded for a plain file: with keys and archives, opening a bundle takes as long as reading a small snapshot.
  const [{ pathOf }, { openBundle }] = await Promise.all([
    import('../../options/bundle-options.ts'),
    import('../../../bundle/read/reader.ts'),
  ]);
  const pid = processOf(source);
  let path: string;
  try {
    path = pathOf({ bundle: source, dir });
  } catch (error) {
    // A number may be the id of a bundle, which comes first.
    if (pid !== undefined) return readProcess(pid, options);
    throw error;
  }
  const bundle = openBundle(path);
  const name = partNames.heapSnapshot;
  const part = bundle.openPartFile(name) ?? bundle.openBegunPart(name);
  if (part) return { input: copies(part.chunks(1 << 18)), bundle, sizeBytes: part.bytes };
  const gap = bundle.gaps.find(({ part: name }) => name === partNames.heapSnapshot);
  bundle.close();
  throw new AgentdumpError(
    'not-found',
    `the bundle ${bundle.path} has no heap snapshot${gap ? `: ${gap.reason}` : ''}`,
    { path: bundle.path, name: partNames.heapSnapshot },
  );
}

function readFile(source: string, options: SourceOptions): HeapInput | Promise<HeapInput> {
  switch (sourceKind(source)) {
    case 'core':
      return readCore(source, options.executable, options);
    case 'profile':
      throw new AgentdumpError(
        'usage',
        `${source} is a sampled allocation profile: it holds no objects. \`agentdump heap allocations\` reads it`,
        { argument: 'file' },
      );
    case 'javascriptcore':
      throw new AgentdumpError(
        'unsupported-version',
        `${source} is a heap snapshot of JavaScriptCore (Bun, Safari); only those of V8 are read`,
        { format: 'javascriptcore', supported: 'heapsnapshot' },
      );
    case 'other':
      return { input: source };
  }
}

/** Copies the chunks, because those of a part share their memory and a stream may hold more than one at a time. */
async function* copies(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
