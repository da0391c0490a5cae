/**
 * The journal on disk: segments, their header and the frame of a record, shared by the writer (in the living process)
 * and the reader (afterwards). FORMAT.md is the specification; a change here edits it in the same commit. Constants
 * only, for the preload carries this file. What the records say: layout/records.ts.
 */

/** Raised by one when an older reader would misread what is new: 2 allows sealed records. */
export const journalVersion = 2;
/** Of a journal without sealed records, which a reader of the first version reads too. */
export const clearJournalVersion = 1;

/** A segment's first eight bytes; as in PNG, a transfer that mangles line ends or the high bit destroys it. */
export const segmentMagic = [0x89, 0x61, 0x64, 0x6a, 0x0d, 0x0a, 0x1a, 0x0a] as const;
export const segmentSuffix = '.journal';

/** Offsets in a segment's header, in bytes. Integers are little-endian. */
export const segmentHeader = {
  bytes: 128,
  magic: 0,
  version: 8,
  headerBytes: 10,
  segment: 12,
  firstSeq: 16,
  createdAt: 24,
  previous: 32,
  pid: 36,
  nonce: 40,
  idLength: 48,
  id: 49,
  idCapacity: 64,
  checksum: 124,
} as const;

/** Offsets in a record, in bytes. Integers are little-endian. */
export const recordFrame = {
  bytes: 32,
  checksum: 0,
  length: 4,
  previous: 8,
  kind: 12,
  flags: 14,
  seq: 16,
  time: 24,
  payload: 32,
} as const;

/** The payload is UTF-8 text (JSON, unless the kind says otherwise) and not bytes. */
export const textFlag = 1;
/** The payload is ciphertext and a tag; the other flags tell of the payload inside. */
export const sealedFlag = 2;
export const knownFlags = textFlag | sealedFlag;

/** A sealed record: AES-256-GCM, the tag after the ciphertext. */
export const sealing = {
  cipher: 'aes-256-gcm',
  keyBytes: 32,
  nonceBytes: 12,
  tagBytes: 16,
  /** The frame's bytes [boundStart, boundEnd), from kind to time, are authenticated with the payload. */
  boundStart: 12,
  boundEnd: 32,
} as const;

/** No record is larger; a length above it is damage. */
export const maxPayloadBytes = 64 * 1024 * 1024;

/** File name of the segment with this number, 0-based. */
export function segmentName(segment: number): string {
  return String(segment).padStart(8, '0') + segmentSuffix;
}

/** Where a journal ended, so that a later process can go on with it in a new segment. */
export interface JournalEnd {
  /** Number of the last segment. */
  segment: number;
  /** Number that the next record gets. */
  nextSeq: number;
  /** Checksum of the last record: the link that the next one carries. */
  checksum: number;
}
