/**
 * The journal on disk: segments, their headers and the frames of records. Shared by the writer (in the running process) and
 * the reader (afterwards). FORMAT.md is the specification and must be edited in the same commit as this file. Contains only
 * constants, because it is part of the preload. The contents of records are in layout/records.ts.
 */

/** Incremented when older readers would misread a change. 2 adds sealed records. */
export const journalVersion = 2;
/** The version of a journal without sealed records, which readers of version 1 can read. */
export const clearJournalVersion = 1;

/** The first eight bytes of a segment. As with PNG, a transfer that changes line ends or strips the high bit damages them. */
export const segmentMagic = [0x89, 0x61, 0x64, 0x6a, 0x0d, 0x0a, 0x1a, 0x0a] as const;
export const segmentSuffix = '.journal';

/** Byte offsets in a segment's header. Integers are little-endian. */
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

/** Byte offsets in a record. Integers are little-endian. */
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

/** The payload is UTF-8 text (JSON, unless the kind specifies otherwise) instead of bytes. */
export const textFlag = 1;
/** The payload is ciphertext and a tag. The other flags apply to the decrypted payload. */
export const sealedFlag = 2;
export const knownFlags = textFlag | sealedFlag;

/** A sealed record: AES-256-GCM with the tag after the ciphertext. */
export const sealing = {
  cipher: 'aes-256-gcm',
  keyBytes: 32,
  nonceBytes: 12,
  tagBytes: 16,
  /** The bytes [boundStart, boundEnd) of the frame, from kind to time, are authenticated together with the payload. */
  boundStart: 12,
  boundEnd: 32,
} as const;

/** The maximum size; a larger length indicates damage. */
export const maxPayloadBytes = 64 * 1024 * 1024;

/** File name of a segment by its 0-based number. */
export function segmentName(segment: number): string {
  return String(segment).padStart(8, '0') + segmentSuffix;
}

/** The end of a journal, which a later process needs to continue it in a new segment. */
export interface JournalEnd {
  /** Number of the last segment. */
  segment: number;
  /** Number of the next record. */
  nextSeq: number;
  /** Checksum of the last record, to which the next record links. */
  checksum: number;
}
