/**
 * Encodes a segment's header and a record's frame. Knows the layout, and nothing of files.
 */
import { crc32 } from 'node:zlib';
import { recordFrame as R, segmentHeader as S, segmentMagic } from '../layout/journal.ts';

/** Captured before the host, or its fake timers, are loaded. */
export const nowMs = Date.now;

export interface SegmentStart {
  version: number;
  segment: number;
  firstSeq: number;
  createdAtMs: number;
  /** Checksum of the last record of the previous segment; 0 if there is none. */
  previous: number;
  /** At most 64 bytes of UTF-8; the rest is cut off. */
  id: string;
}

/** Writes the header at the start of `target` and returns its checksum, the seed of its records' checksums. */
export function putSegmentHeader(target: Buffer, start: SegmentStart): number {
  target.fill(0, 0, S.bytes);
  target.set(segmentMagic, S.magic);
  target.writeUInt16LE(start.version, S.version);
  target.writeUInt16LE(S.bytes, S.headerBytes);
  target.writeUInt32LE(start.segment, S.segment);
  target.writeBigUInt64LE(BigInt(start.firstSeq), S.firstSeq);
  target.writeDoubleLE(start.createdAtMs, S.createdAt);
  target.writeUInt32LE(start.previous, S.previous);
  target.writeUInt32LE(process.pid, S.pid);
  target.writeBigUInt64LE(process.hrtime.bigint(), S.nonce);
  target[S.idLength] = target.write(start.id, S.id, S.idCapacity, 'utf8');
  const checksum = crc32(target.subarray(0, S.checksum));
  target.writeUInt32LE(checksum, S.checksum);
  return checksum;
}

/** Writes a record's frame except for the checksum. `view` covers the buffer from which the record will be written. */
export function putRecordFrame(
  view: DataView,
  at: number,
  length: number,
  previous: number,
  kind: number,
  flags: number,
  seq: number,
): void {
  view.setUint32(at + R.length, length, true);
  view.setUint32(at + R.previous, previous, true);
  view.setUint16(at + R.kind, kind, true);
  view.setUint16(at + R.flags, flags, true);
  view.setUint32(at + R.seq, seq >>> 0, true);
  view.setUint32(at + R.seq + 4, (seq / 4294967296) >>> 0, true);
  view.setFloat64(at + R.time, nowMs(), true);
}
