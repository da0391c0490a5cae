/**
 * Validates a segment's header or a record's frame at an offset of a source, and finds the next valid one after damage. Never
 * throws, whatever it reads. A length is compared with the available bytes before they are read.
 */
import { crc32 } from 'node:zlib';
import {
  journalVersion,
  knownFlags,
  maxPayloadBytes,
  recordFrame as R,
  segmentHeader as S,
  sealedFlag,
  segmentMagic,
  textFlag,
} from '../layout/journal.ts';
import type { JournalSource } from './source.ts';

export interface SegmentFacts {
  segment: number;
  firstSeq: number;
  createdAtMs: number;
  previous: number;
  pid: number;
  id: string;
  /** The seed of the checksums of the segment's records. */
  checksum: number;
}

export interface RecordFacts {
  seq: number;
  kind: number;
  atMs: number;
  isText: boolean;
  isSealed: boolean;
  previous: number;
  checksum: number;
  /** The frame's 32 bytes. */
  frame: Uint8Array;
  payload: Uint8Array;
  /** Offset just after the record. */
  end: number;
}

const magic = Buffer.from(segmentMagic);
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
/** The latest time that a Date can represent. */
const highestTime = 8.64e15;
const scanBytes = 64 * 1024;

/** `newer`: a header of a version that this release can't read. */
export function readHeader(source: JournalSource, offset: number): SegmentFacts | 'newer' | undefined {
  const bytes = source.read(offset, S.bytes);
  if (bytes.length < S.bytes || magic.compare(bytes, 0, magic.length) !== 0) return undefined;
  const view = viewOf(bytes);
  const checksum = view.getUint32(S.checksum, true);
  if (crc32(bytes.subarray(0, S.checksum)) !== checksum) return undefined;
  if (view.getUint16(S.version, true) > journalVersion) return 'newer';
  const firstSeq = Number(view.getBigUint64(S.firstSeq, true));
  const createdAtMs = view.getFloat64(S.createdAt, true);
  const idLength = view.getUint8(S.idLength);
  if (!Number.isSafeInteger(firstSeq) || !isTime(createdAtMs) || idLength > S.idCapacity) return undefined;
  return {
    segment: view.getUint32(S.segment, true),
    firstSeq,
    createdAtMs,
    previous: view.getUint32(S.previous, true),
    pid: view.getUint32(S.pid, true),
    id: Buffer.from(bytes.subarray(S.id, S.id + idLength)).toString('utf8'),
    checksum,
  };
}

/** The record at `offset`, validated. Undefined if there is none, or if it is damaged or torn. */
export function readRecord(
  source: JournalSource,
  offset: number,
  seed: number,
  lowestSeq: number,
): RecordFacts | undefined {
  const frame = source.read(offset, R.bytes);
  if (frame.length < R.bytes) return undefined;
  const length = findPlausibleLength(viewOf(frame), 0, source.size - offset, lowestSeq);
  if (length === undefined) return undefined;
  const bytes = source.read(offset, R.bytes + length);
  if (bytes.length < R.bytes + length) return undefined;
  const view = viewOf(bytes);
  const checksum = view.getUint32(R.checksum, true);
  if (crc32(bytes.subarray(R.length), seed) !== checksum) return undefined;
  return {
    seq: seqAt(view, 0),
    kind: view.getUint16(R.kind, true),
    atMs: view.getFloat64(R.time, true),
    isText: (view.getUint16(R.flags, true) & textFlag) !== 0,
    isSealed: (view.getUint16(R.flags, true) & sealedFlag) !== 0,
    previous: view.getUint32(R.previous, true),
    checksum,
    frame: bytes.subarray(0, R.bytes),
    payload: bytes.slice(R.payload),
    end: offset + R.bytes + length,
  };
}

/** The length of the payload if a record may begin at offset `at` of the view, with `available` bytes from there on. */
function findPlausibleLength(
  view: DataView,
  at: number,
  available: number,
  lowestSeq: number,
): number | undefined {
  const length = view.getUint32(at + R.length, true);
  if (length > maxPayloadBytes || R.bytes + length > available) return undefined;
  if ((view.getUint16(at + R.flags, true) & ~knownFlags) !== 0) return undefined;
  const seq = seqAt(view, at);
  if (!Number.isSafeInteger(seq) || seq < lowestSeq) return undefined;
  return isTime(view.getFloat64(at + R.time, true)) ? length : undefined;
}

/**
 * Offset of the next valid record (of the segment with this seed) or segment header, starting at `from`. Undefined if there
 * is none, or if malicious bytes have caused checksums over more than four times the source and no header follows.
 */
export function findNextGood(
  source: JournalSource,
  from: number,
  seed: number | undefined,
  lowestSeq: number,
): number | undefined {
  let budgetBytes = 4 * source.size + scanBytes;
  for (let start = from; start + R.bytes <= source.size; start += scanBytes) {
    const chunk = source.read(start, scanBytes + R.bytes);
    const view = viewOf(chunk);
    for (let at = 0; at < scanBytes && at + R.bytes <= chunk.length; at++) {
      const offset = start + at;
      if (chunk[at] === magic[0] && typeof readHeader(source, offset) === 'object') return offset;
      if (seed === undefined || budgetBytes <= 0) continue;
      const length = findPlausibleLength(view, at, source.size - offset, lowestSeq);
      if (length === undefined) continue;
      budgetBytes -= R.bytes + length;
      if (readRecord(source, offset, seed, lowestSeq)) return offset;
    }
  }
  return undefined;
}

function seqAt(view: DataView, at: number): number {
  return view.getUint32(at + R.seq, true) + view.getUint32(at + R.seq + 4, true) * 4294967296;
}

function isTime(value: number): boolean {
  return value >= 0 && value <= highestTime;
}
