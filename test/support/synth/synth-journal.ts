/**
 * Builds journal segments byte by byte from FORMAT.md. Does not import the product's layout, so that both can't share a
 * mistake.
 */
import { crc32 } from 'node:zlib';

export interface SynthRecord {
  kind?: number;
  seq?: number;
  atMs?: number;
  flags?: number;
  payload?: string | Uint8Array;
  /** Overrides the true length in the frame. */
  length?: number;
  previous?: number;
  breakChecksum?: boolean;
}

export interface SynthSegment {
  segment?: number;
  firstSeq?: number;
  previous?: number;
  id?: string;
  version?: number;
  createdAtMs?: number;
  records?: SynthRecord[];
}

/** The segment's bytes, the offset of each record, and the checksum of the last record. */
export function synthSegment(options: SynthSegment = {}): {
  bytes: Buffer;
  offsets: number[];
  checksum: number;
} {
  const { segment = 0, firstSeq = 0, previous = 0, id = 'synth', version = 1, records = [] } = options;
  const header = Buffer.alloc(128);
  header.write('\x89adj\r\n\x1a\n', 0, 'latin1');
  header.writeUInt16LE(version, 8);
  header.writeUInt16LE(128, 10);
  header.writeUInt32LE(segment, 12);
  header.writeBigUInt64LE(BigInt(firstSeq), 16);
  header.writeDoubleLE(options.createdAtMs ?? 1e12, 24);
  header.writeUInt32LE(previous, 32);
  header.writeUInt32LE(4711, 36);
  header.writeBigUInt64LE(7n, 40);
  header.writeUInt8(header.write(id, 49), 48);
  const seed = crc32(header.subarray(0, 124));
  header.writeUInt32LE(seed, 124);
  const parts: Buffer[] = [header];
  const offsets: number[] = [];
  let checksum = previous;
  let seq = firstSeq;
  let offset = 128;
  for (const record of records) {
    const bytes = synthRecord({ seq, previous: checksum, ...record }, seed);
    checksum = bytes.readUInt32LE(0);
    seq = (record.seq ?? seq) + 1;
    offsets.push(offset);
    offset += bytes.length;
    parts.push(bytes);
  }
  return { bytes: Buffer.concat(parts), offsets, checksum };
}

function synthRecord(record: SynthRecord, seed: number): Buffer {
  const payload = Buffer.from(record.payload ?? '{}');
  const bytes = Buffer.alloc(32 + payload.length);
  bytes.writeUInt32LE(record.length ?? payload.length, 4);
  bytes.writeUInt32LE(record.previous ?? 0, 8);
  bytes.writeUInt16LE(record.kind ?? 45, 12);
  bytes.writeUInt16LE(record.flags ?? (typeof record.payload === 'object' ? 0 : 1), 14);
  bytes.writeBigUInt64LE(BigInt(record.seq ?? 0), 16);
  bytes.writeDoubleLE(record.atMs ?? 1e12, 24);
  bytes.set(payload, 32);
  bytes.writeUInt32LE((crc32(bytes.subarray(4), seed) ^ (record.breakChecksum ? 1 : 0)) >>> 0, 0);
  return bytes;
}
