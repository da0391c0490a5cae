/** Writes a graph in the format of V8's `.heapsnapshot` (of Node 24), in chunks. */
import type { EdgeRecords, NodeRecords } from '../../../formats/heapsnapshot/index.ts';
import { type HeapGraph, idOfNode } from '../../../formats/v8/graph/graph.ts';
import type { GraphPlace } from '../../../formats/v8/graph/locations.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { nodeFields, snapshotHeadText } from './snapshot-head.ts';

const pieceLength = 1 << 20;
/** For what is added to a chunk that is almost full; longer texts enlarge the chunk. */
const spareLength = 1 << 18;
/** Everything but ASCII is escaped, as V8 does. */
const beyondAscii = /[\u007f-\uffff]/g;

/** Is told all records before it rewrites the list of strings, in chunks. */
export interface StringListRedactor {
  /** `firstId`: of the first node; each is two above the one before. */
  nodes(records: NodeRecords, firstId: number): void;
  edges(records: EdgeRecords): void;
  strings(chunk: Buffer): Buffer;
}

export interface SnapshotTextOptions {
  /** Without one, the text is not redacted. */
  redactor?: StringListRedactor | undefined;
  /** An additional string after all others, which no node uses. */
  planted?: string | undefined;
  /** Chunks that were written, and may be used again. Otherwise they wait for a garbage collection, up to some hundred of them. */
  spare?: Buffer[] | undefined;
}

/** Only the list of strings can contain what the program's data says: everything before it is numbers. */
export async function* snapshotText(
  graph: HeapGraph,
  { redactor, planted, spare }: SnapshotTextOptions = {},
): AsyncGenerator<Buffer> {
  const text = new TextWriter(spare);
  const records = createRecordWriter();
  text.ascii(`${snapshotHeadText(graph)},\n"nodes":[`);
  yield* nodeRecords(graph, records, text, redactor);
  text.endRecords();
  text.ascii('],\n"edges":[');
  yield* edgeRecords(graph, records, text, redactor);
  text.endRecords();
  text.ascii('],\n"trace_function_infos":[],\n"trace_tree":[],\n"samples":[],\n"locations":[');
  yield* locationRecords(graph, text);
  text.ascii('],\n"strings":[');
  yield* text.takeAll();
  for (const chunk of stringListText(graph, planted)) yield redactor ? redactor.strings(chunk) : chunk;
  yield Buffer.from('}\n');
}

/** Only the list of strings, without its opening bracket. */
export function* stringListText(graph: HeapGraph, planted?: string): Generator<Buffer> {
  const text = new TextWriter();
  yield* strings(graph.names.all(), planted, text);
  text.ascii(']');
  yield* text.takeAll();
}

function* nodeRecords(
  graph: HeapGraph,
  records: RecordWriter,
  text: TextWriter,
  redactor?: StringListRedactor,
): Generator<Buffer> {
  let node = 0;
  for (const batch of graph.nodes()) {
    redactor?.nodes(batch, idOfNode(node));
    for (const piece of records.nodes(batch, node)) text.bytes(piece);
    node += batch.count;
    yield* text.take();
  }
}

function* edgeRecords(
  graph: HeapGraph,
  records: RecordWriter,
  text: TextWriter,
  redactor?: StringListRedactor,
): Generator<Buffer> {
  for (const batch of graph.edges()) {
    redactor?.edges(batch);
    for (const piece of records.edges(batch)) text.bytes(piece);
    yield* text.take();
  }
}

/** Only objects of the program's classes and functions have one. */
function* locationRecords(graph: HeapGraph, text: TextWriter): Generator<Buffer> {
  const places: (GraphPlace | undefined)[] = [];
  /** By place, which many nodes share. */
  const tails: string[] = [];
  let separator = '';
  for (const { count, nodes, places: numbers } of graph.locations(places)) {
    let records = '';
    for (let i = 0; i < count; i++) {
      const place = numbers[i]!;
      tails[place] ??= tailOf(places[place]!);
      records += `${separator}${nodes[i]! * nodeFields.length}${tails[place]}`;
      separator = ',';
    }
    text.ascii(records);
    yield* text.take();
  }
}

const tailOf = ({ scriptId, line, column }: GraphPlace) => `,${scriptId},${line},${column}`;

function* strings(texts: Iterable<string>, planted: string | undefined, text: TextWriter): Generator<Buffer> {
  let isFirst = true;
  let last = '';
  let written = '""';
  const add = (each: string) => {
    if (!isFirst) text.ascii(',');
    isFirst = false;
    // Withheld strings are all the same, so the last result is reused.
    if (each !== last) written = inAscii(each);
    last = each;
    text.ascii(written);
  };
  for (const each of texts) {
    add(each);
    yield* text.take();
  }
  if (planted !== undefined) add(planted);
}

function inAscii(text: string): string {
  return JSON.stringify(text).replace(
    beyondAscii,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Collects text in chunks of about `pieceLength`. */
class TextWriter {
  readonly #spare: Buffer[];
  #piece: Buffer;
  #at = 0;
  #full: Buffer[] = [];

  constructor(spare: Buffer[] = []) {
    this.#spare = spare;
    this.#piece = this.#open(pieceLength);
  }

  #open(length: number): Buffer {
    const used = this.#spare.pop();
    if (used && used.buffer.byteLength >= length + spareLength) return Buffer.from(used.buffer);
    return Buffer.allocUnsafeSlow(length + spareLength);
  }

  /** The chunks that are full. */
  take(): Buffer[] {
    if (this.#full.length === 0) return this.#full;
    const full = this.#full;
    this.#full = [];
    return full;
  }

  takeAll(): Buffer[] {
    this.#finish();
    return this.take();
  }

  ascii(text: string): void {
    this.#makeRoom(text.length);
    this.#at += this.#piece.write(text, this.#at, 'latin1');
  }

  bytes(text: Uint8Array): void {
    this.#makeRoom(text.length);
    this.#piece.set(text, this.#at);
    this.#at += text.length;
  }

  /** Takes back the last comma. */
  endRecords(): void {
    this.#at--;
  }

  #makeRoom(length: number): void {
    if (this.#at >= pieceLength || this.#at + length > this.#piece.length) this.#finish(length);
  }

  #finish(length = 0): void {
    if (this.#at > 0) this.#full.push(this.#piece.subarray(0, this.#at));
    this.#piece = this.#open(Math.max(pieceLength, length));
    this.#at = 0;
  }
}
