/**
 * Reads a heap snapshot of any size into columns: windows of the source are passed to the scanner; at the end, missing data
 * is reported as a gap or rejected. Never allocates a string or buffer of the file's size.
 */
import { type AgentdumpError, MalformedInput } from '../../errors.ts';
import { type Allocator, createEdgeColumns, privateMemory, sharedMemory } from './columns.ts';
import { formatName } from './layout.ts';
import { isRecords, readRecords, type SnapshotRecords } from './records.ts';
import { type ByteSource, memorySource, openSource, type SnapshotBytes } from './scan/byte-source.ts';
import { KeptBytes } from './scan/kept-bytes.ts';
import { ScanKernel, sentinelBytes, windowBytes } from './scan/scan-kernel.ts';
import { SnapshotScanner } from './scan/scanner.ts';
import { EdgeHelper } from './sections/edge-helper.ts';
import { readHeader, type SnapshotHeader } from './sections/header.ts';
import { noLocations } from './sections/locations.ts';
import { StringTable } from './sections/string-table.ts';
import { HeapSnapshot, type SnapshotGap } from './snapshot.ts';

export type SnapshotInput = SnapshotBytes | SnapshotRecords;

export interface ReadOptions {
  /** 1, or 2 to scan the edges of a large plain file from both ends. Default: 1. */
  threads?: number;
  /** Expected size of a stream in bytes, for progress, and to reject excessive decompressed sizes. */
  sizeBytes?: number;
  /**
   * Bytes consumed and total bytes (compressed bytes for a compressed file); the total is undefined for a stream. A returned
   * promise is awaited; otherwise a plain file is read in one turn of the event loop.
   */
  onProgress?(consumedBytes: number, sizeBytes: number | undefined): Promise<void> | undefined | void;
  /** Returns the memory in which to create the columns; undefined for the default. */
  memoryFor?(header: SnapshotHeader): Allocator | undefined;
}

/**
 * @param input path of a `.heapsnapshot` or `.heapsnapshot.gz`, the bytes of one, a stream of its bytes, or the records themselves.
 * @throws MalformedInput if it is not a heap snapshot, violates the format, or was cut before its first node.
 */
export async function readHeapSnapshot(
  input: SnapshotInput,
  options: ReadOptions = {},
): Promise<HeapSnapshot> {
  if (typeof input === 'object' && isRecords(input)) {
    const header = readHeader(input.head);
    return readRecords(input, header, options.memoryFor?.(header) ?? privateMemory);
  }
  const source = await openSource(input, options.sizeBytes);
  const reading = new Reading(source, options);
  try {
    while (reading.wantsMore) {
      const filling = reading.fill();
      const pause = reading.filled(typeof filling === 'number' ? filling : await filling);
      if (pause) await pause;
    }
    return reading.result();
  } catch (error) {
    reading.abandon();
    source.close();
    throw error;
  }
}

/** Like readHeapSnapshot, for bytes that are not compressed. */
export function readHeapSnapshotSync(bytes: Uint8Array, options: ReadOptions = {}): HeapSnapshot {
  const reading = new Reading(
    memorySource(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    options,
  );
  while (reading.wantsMore) reading.filled(reading.fill() as number);
  return reading.result();
}

/** The window that slides over the source, and the scanner of its contents. */
class Reading {
  readonly #source: ByteSource;
  readonly #options: ReadOptions;
  readonly #scanner: SnapshotScanner;
  readonly #kept: KeptBytes | undefined;
  readonly #window = ScanKernel.window();
  /** While edges are being read. */
  #helper: EdgeHelper | undefined;
  /** After the edges were read: finds the shared targets. */
  #counting: EdgeHelper | undefined;
  /** Bytes in the window. */
  #filled = 0;
  /** Absolute offset of the window's first byte. */
  #base = 0;
  #ended = false;
  /** No more bytes can be scanned, although the object is not closed. */
  #isStuck = false;

  constructor(source: ByteSource, options: ReadOptions) {
    const kept = source.random ? undefined : new KeptBytes();
    this.#source = source;
    this.#options = options;
    this.#kept = kept;
    this.#scanner = new SnapshotScanner({
      checkHeader: (header) => {
        requireBytesFor(header, source.maxPlainBytes);
        return this.#memoryFor(header);
      },
      ...(kept ? { keepStrings: (bytes: Buffer) => kept.append(bytes) } : {}),
    });
  }

  #memoryFor(header: SnapshotHeader): Allocator {
    const given = this.#options.memoryFor?.(header);
    if (given) return given;
    if ((this.#options.threads ?? 1) < 2) return privateMemory;
    this.#startHelper(header);
    return sharedMemory;
  }

  #startHelper(header: SnapshotHeader): void {
    const { plainPath, sizeBytes } = this.#source;
    if (plainPath === undefined || sizeBytes === undefined) return;
    const columns = createEdgeColumns(header.edgeCount, sharedMemory);
    this.#scanner.edgeColumns = columns;
    this.#helper = EdgeHelper.start(plainPath, sizeBytes, header, columns);
  }

  get wantsMore(): boolean {
    return !this.#scanner.done && !this.#isStuck;
  }

  fill(): number | Promise<number> {
    return this.#source.fill(this.#window, this.#filled, windowBytes);
  }

  /** Returns a promise to wait for before the next `fill`, if any. */
  filled(count: number): Promise<void> | undefined | void {
    this.#filled += count;
    this.#ended = count === 0;
    if (this.#filled < windowBytes && !this.#ended) return undefined;
    const taken = this.#scan();
    this.#window.copyWithin(0, taken, this.#filled);
    this.#filled -= taken;
    this.#base += taken;
    this.#isStuck = this.#ended && (taken === 0 || this.#filled === 0);
    this.#meetHelper();
    return this.#options.onProgress?.(this.#source.consumed(), this.#source.sizeBytes);
  }

  /** If the second thread has read the remaining edges, continues after them. */
  #meetHelper(): void {
    const { edges } = this.#scanner;
    if (!this.#helper || !edges) return;
    const end = edges.done ? undefined : this.#helper.meet(edges.row);
    if (end === undefined && !edges.done) return;
    if (end !== undefined) {
      this.#scanner.skipEdges(this.#helper.maxName);
      this.#source.seek?.(end);
      this.#filled = 0;
      this.#base = end;
      this.#isStuck = false;
    }
    this.#helper.finish();
    this.#counting = this.#helper;
    this.#helper = undefined;
  }

  #scan(): number {
    const scanner = this.#scanner;
    this.#window.fill(0, this.#filled, this.#filled + sentinelBytes);
    scanner.mustMove = false;
    const taken = scanner.scan(this.#window, 0, this.#filled, this.#base);
    if (taken > 0 || this.#ended) return taken;
    scanner.mustMove = true;
    const moved = scanner.scan(this.#window, 0, this.#filled, this.#base);
    if (moved > 0) return moved;
    throw new MalformedInput(`not a heap snapshot: nothing that ends within ${windowBytes} bytes`, {
      format: formatName,
      field: scanner.sectionName || 'snapshot',
      offset: this.#base,
    });
  }

  /** Stops the second thread, if it is running. */
  abandon(): void {
    this.#helper?.stop();
  }

  result(): HeapSnapshot {
    this.abandon();
    this.#counting?.settle();
    return assemble(this.#source, this.#scanner, this.#kept, this.#counting);
  }
}

/** Each number takes at least a digit and a comma. Counts that the bytes can't contain are rejected before allocation. */
function requireBytesFor(header: SnapshotHeader, maxPlainBytes: number): void {
  const check = (field: string, count: number, fields: number): void => {
    if (count * fields * 2 <= maxPlainBytes) return;
    throw new MalformedInput(
      `not a whole heap snapshot: ${field} is ${count}, more than its bytes can hold; it was cut, or the count is wrong`,
      {
        format: formatName,
        field: `snapshot.${field}`,
        wanted: `${count * fields * 2} bytes`,
        available: `${maxPlainBytes} bytes`,
      },
    );
  };
  check('node_count', header.nodeCount, header.node.fieldCount);
  check('edge_count', header.edgeCount, header.edge.fieldCount);
}

function assemble(
  source: ByteSource,
  scanner: SnapshotScanner,
  kept: KeptBytes | undefined,
  helper: EdgeHelper | undefined,
): HeapSnapshot {
  const { header, nodes, edges, edgeColumns } = scanner;
  if (!header) throw absent(scanner, 'snapshot');
  if (!nodes) throw absent(scanner, 'nodes');
  if (!nodes.done) {
    if (nodes.row === 0) throw cut('nodes');
    nodes.columns.count = nodes.row;
  }
  if (!edges && scanner.done) throw absent(scanner, 'edges');
  if (scanner.stringsOffset < 0 && scanner.done) throw absent(scanner, 'strings');
  const gaps = gapsOf(scanner);
  const columns = edgeColumns ?? createEdgeColumns(0, privateMemory);
  const edgeRows = edges?.row ?? 0;
  if (!edges?.done) clampEdges(nodes.columns.firstEdge, edgeRows);
  const random = kept ?? source.random!;
  const strings = new StringTable(
    scanner.strings.starts,
    scanner.strings.ephemeronNames,
    random,
    kept ? 0 : Math.max(0, scanner.stringsOffset),
  );
  requireNames(scanner, strings.count);
  return new HeapSnapshot({
    header,
    nodes: nodes.columns,
    edges: { ...columns, count: edgeRows },
    strings,
    locations: scanner.locations?.result() ?? noLocations,
    traceTree: scanner.traceTree,
    traceFunctions: scanner.traceFunctions.values.slice(),
    samples: scanner.samples.values.slice(),
    gaps,
    sizeBytes: source.sizeBytes,
    plainPath: source.plainPath,
    sharedTargets: helper && (() => helper.sharedTargets()),
    close: () => source.close(),
  });
}

function gapsOf(scanner: SnapshotScanner): SnapshotGap[] {
  if (scanner.done) return [];
  const gaps: SnapshotGap[] = [];
  const { nodes, edges, header, strings } = scanner;
  if (!nodes!.done)
    gaps.push({
      section: 'nodes',
      reason: `the file was cut: ${nodes!.row} of ${header!.nodeCount} nodes are there`,
    });
  if (!edges?.done)
    gaps.push({
      section: 'edges',
      reason: `the file was cut: ${edges?.row ?? 0} of ${header!.edgeCount} edges are there, so who keeps what alive can't be told`,
    });
  if (!strings.done)
    gaps.push({
      section: 'strings',
      reason: `the file was cut: ${strings.count} strings are there, names are missing`,
    });
  else gaps.push({ section: 'tail', reason: 'the file was cut after its strings' });
  return gaps;
}

function clampEdges(firstEdge: Uint32Array, rows: number): void {
  for (let node = 0; node < firstEdge.length; node++) if (firstEdge[node]! > rows) firstEdge[node] = rows;
}

/** A whole file must contain every name; missing names of a cut file are reported as lost. */
function requireNames(scanner: SnapshotScanner, count: number): void {
  const highest = Math.max(scanner.nodes?.maxName ?? 0, scanner.edges?.maxName ?? 0);
  if (!scanner.strings.done || highest < count) return;
  throw new MalformedInput(`not a heap snapshot: a name is string ${highest}, there are ${count}`, {
    format: formatName,
    field: 'strings',
    wanted: `more than ${highest} strings`,
    available: `${count} strings`,
  });
}

function absent(scanner: SnapshotScanner, section: string): AgentdumpError {
  const found = scanner.header ? `its header, but no "${section}"` : 'no heap snapshot header';
  return new MalformedInput(`not a heap snapshot: the input has ${found}`, {
    format: formatName,
    field: section,
    wanted: `the section "${section}"`,
  });
}

function cut(section: string): AgentdumpError {
  return new MalformedInput(
    `this heap snapshot was cut before its first node: whoever wrote it did not finish, and nothing can be told`,
    { format: formatName, field: section, wanted: 'a whole section' },
  );
}
