/** Writes a graph in the format of V8's `.heapsnapshot` (of Node 24), in chunks. */
import { edgeTargetMask, edgeTypeShift } from '../../../formats/v8/graph/edges/edge-batch.ts';
import { type HeapGraph, idOfNode } from '../../../formats/v8/graph/graph.ts';
import { nodeFields, snapshotHeadText } from './snapshot-head.ts';

const pieceLength = 1 << 20;
/** More than one record needs; longer texts enlarge the chunk. */
const spareLength = 1 << 13;
/** Everything but ASCII is escaped, as V8 does. */
const beyondAscii = /[\u007f-\uffff]/g;

/** `planted`: an additional string after all others, which no node uses. */
export async function* snapshotText(graph: HeapGraph, planted?: string): AsyncGenerator<Buffer> {
  const text = new TextWriter();
  text.ascii(`${snapshotHeadText(graph)},\n"nodes":[`);
  yield* nodeRecords(graph, text);
  text.endRecords();
  text.ascii('],\n"edges":[');
  yield* edgeRecords(graph, text);
  text.endRecords();
  text.ascii('],\n"trace_function_infos":[],\n"trace_tree":[],\n"samples":[],\n"locations":[],\n"strings":[');
  yield* strings(graph.names.all(), planted, text);
  text.ascii(']}\n');
  yield* text.takeAll();
}

/** Only the list of strings, without its opening bracket. */
export function* stringListText(graph: HeapGraph): Generator<Buffer> {
  const text = new TextWriter();
  yield* strings(graph.names.all(), undefined, text);
  text.ascii(']');
  yield* text.takeAll();
}

function* nodeRecords(graph: HeapGraph, text: TextWriter): Generator<Buffer> {
  let node = 0;
  for (const { count, types, names, sizes, edgeCounts } of graph.nodes()) {
    for (let i = 0; i < count; i++)
      text.nodeRecord(types[i]!, names[i]!, idOfNode(node++), sizes[i]!, edgeCounts[i]!);
    yield* text.take();
  }
}

function* edgeRecords(graph: HeapGraph, text: TextWriter): Generator<Buffer> {
  for (const { count, packed, names } of graph.edges()) {
    for (let i = 0; i < count; i++)
      text.edgeRecord(
        packed[i]! >>> edgeTypeShift,
        names[i]!,
        (packed[i]! & edgeTargetMask) * nodeFields.length,
      );
    yield* text.take();
  }
}

function* strings(texts: Iterable<string>, planted: string | undefined, text: TextWriter): Generator<Buffer> {
  let isFirst = true;
  let last = '';
  let written = '""';
  const add = (each: string) => {
    if (!isFirst) text.comma();
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

/** Collects text in chunks, and writes numbers without allocating strings. */
class TextWriter {
  #piece = Buffer.allocUnsafeSlow(pieceLength + spareLength);
  #at = 0;
  #full: Buffer[] = [];

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

  /** For a record, or for text of that length. */
  makeRoom(length = 0): void {
    if (this.#at >= pieceLength || this.#at + length > this.#piece.length) this.#finish(length);
  }

  #finish(length = 0): void {
    if (this.#at > 0) this.#full.push(this.#piece.subarray(0, this.#at));
    this.#piece = Buffer.allocUnsafeSlow(Math.max(pieceLength, length) + spareLength);
    this.#at = 0;
  }

  comma(): void {
    this.#piece[this.#at++] = comma;
  }

  nodeRecord(type: number, name: number, id: number, size: number, edgeCount: number): void {
    this.makeRoom();
    const piece = this.#piece;
    let at = writeNumber(piece, this.#at, type);
    piece[at++] = comma;
    at = writeNumber(piece, at, name);
    piece[at++] = comma;
    at = writeNumber(piece, at, id);
    piece[at++] = comma;
    at = writeNumber(piece, at, size);
    piece[at++] = comma;
    at = writeNumber(piece, at, edgeCount);
    piece[at++] = comma;
    piece[at++] = zero;
    piece[at++] = comma;
    this.#at = at;
  }

  edgeRecord(type: number, name: number, target: number): void {
    this.makeRoom();
    const piece = this.#piece;
    let at = writeNumber(piece, this.#at, type);
    piece[at++] = comma;
    at = writeNumber(piece, at, name);
    piece[at++] = comma;
    at = writeNumber(piece, at, target);
    piece[at++] = comma;
    this.#at = at;
  }

  /** Takes back the last comma. */
  endRecords(): void {
    this.#at--;
  }

  ascii(text: string): void {
    this.makeRoom(text.length);
    this.#at += this.#piece.write(text, this.#at, 'latin1');
  }
}

const [comma, zero] = [44, 48];
/** The digits of all numbers below 10,000. */
const quads = Uint8Array.from(
  { length: 40_000 },
  (_, i) => zero + (Math.floor((i >> 2) / 10 ** (3 - (i & 3))) % 10),
);

/** A non-negative integer. Returns where it ends. */
function writeNumber(piece: Uint8Array, at: number, value: number): number {
  if (value < 10) {
    piece[at] = zero + value;
    return at + 1;
  }
  if (value < 1e4) return writeShort(piece, at, value);
  const upper = value < 2 ** 31 ? (value / 1e4) | 0 : Math.floor(value / 1e4);
  return writeQuad(piece, writeNumber(piece, at, upper), value - upper * 1e4);
}

/** A number below 10,000, with zeros before it. */
function writeQuad(piece: Uint8Array, at: number, value: number): number {
  const from = value * 4;
  piece[at] = quads[from]!;
  piece[at + 1] = quads[from + 1]!;
  piece[at + 2] = quads[from + 2]!;
  piece[at + 3] = quads[from + 3]!;
  return at + 4;
}

function writeShort(piece: Uint8Array, at: number, value: number): number {
  let to = at;
  const from = value * 4;
  if (value >= 1000) piece[to++] = quads[from]!;
  if (value >= 100) piece[to++] = quads[from + 1]!;
  piece[to++] = quads[from + 2]!;
  piece[to++] = quads[from + 3]!;
  return to;
}
