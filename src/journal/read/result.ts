/** The result of reading a journal: its records, and what is missing or invalid between them. */
import type { JournalEnd } from '../layout/journal.ts';

export interface JournalRecord {
  seq: number;
  /** A value of `recordKinds`, or one that this release does not know. */
  kind: number;
  /** Milliseconds since 1970, UTC. */
  atMs: number;
  /** The payload is UTF-8 text. */
  isText: boolean;
  /** A copy of the record's bytes, not a view. */
  payload: Uint8Array;
  segment: number;
  /** No key was available: the payload is ciphertext. */
  sealed?: true;
}

export type JournalGapReason =
  /**
   * Segments between two existing ones are missing. After the first segment, they were dropped to stay within the size limit;
   * otherwise they were lost.
   */
  | 'segments-missing'
  /** Records were numbered but never reached the disk, which was full or failed. */
  | 'records-missing'
  /** Bytes that are not a valid record, followed by valid ones. */
  | 'damaged'
  /** A segment with an invalid header, whose records can't be verified. */
  | 'header-damaged'
  /** Written by a newer release. */
  | 'newer-version'
  /** A segment of another journal, or one that is out of order. */
  | 'foreign'
  /** A valid record that does not link to the previous one: something was inserted or removed. */
  | 'chain-broken'
  /** A sealed record that the journal's key does not open: it was altered or inserted. */
  | 'seal-broken'
  /** The file can't be opened. */
  | 'unreadable';

export interface JournalGap {
  reason: JournalGapReason;
  /** Name of the file or part. */
  source: string;
  /** 0-based byte offset in the source. */
  offset?: number;
  /** The number of bytes that were skipped. */
  bytes?: number;
  /** The records from this number, inclusive, … */
  fromSeq?: number;
  /** … to this number, exclusive, are missing. */
  toSeq?: number;
  detail?: string;
}

export interface JournalReading {
  /** Can be iterated once. `gaps`, `torn`, `sealed` and `end` are complete after the iteration. */
  records: Iterable<JournalRecord>;
  gaps: JournalGap[];
  /** Bytes after the last valid record: a write that was cut by the death or is in progress. */
  torn?: { source: string; offset: number; bytes: number };
  /** For `openJournal({after})`; absent if there is no valid segment. */
  end?: JournalEnd;
  /** The number of encrypted records that could not be opened without the key. */
  sealed: number;
  sessionId?: string;
}
