/** What a reading of a journal gives: its records, and what is missing or wrong between them. */
import type { JournalEnd } from '../layout/journal.ts';

export interface JournalRecord {
  seq: number;
  /** A number of `recordKinds`, or one that this release does not know. */
  kind: number;
  /** Milliseconds since 1970, UTC. */
  atMs: number;
  /** The payload is UTF-8 text. */
  isText: boolean;
  /** The record's own bytes, not a view. */
  payload: Uint8Array;
  segment: number;
  /** No key was at hand: the payload is ciphertext and says nothing. */
  sealed?: true;
}

export type JournalGapReason =
  /** Segments between two that are there: dropped to hold the bound when it is after the first, else lost. */
  | 'segments-missing'
  /** Records were numbered and never reached the disk: it was full, or failed. */
  | 'records-missing'
  /** Bytes that are no good record, with good ones after them. */
  | 'damaged'
  /** A segment whose header is not good: its records can't be checked. */
  | 'header-damaged'
  /** Written by a newer release. */
  | 'newer-version'
  /** A segment of another journal, or one out of its order, lies among these. */
  | 'foreign'
  /** A good record that does not follow the one before it: something was put in or taken out. */
  | 'chain-broken'
  /** A sealed record that the journal's key does not open: it was altered, or put in. */
  | 'seal-broken'
  /** The file can't be opened. */
  | 'unreadable';

export interface JournalGap {
  reason: JournalGapReason;
  /** Name of the file or part. */
  source: string;
  /** Byte offset in it, 0-based. */
  offset?: number;
  /** How many bytes were stepped over. */
  bytes?: number;
  /** The records from this number, inclusive, … */
  fromSeq?: number;
  /** … to this number, exclusive, are missing. */
  toSeq?: number;
  detail?: string;
}

export interface JournalReading {
  /** May be walked once. `gaps`, `torn`, `sealed` and `end` are complete when the walk is. */
  records: Iterable<JournalRecord>;
  gaps: JournalGap[];
  /** Bytes after the last good record: a write that the death cut, or that is just happening. */
  torn?: { source: string; offset: number; bytes: number };
  /** For `openJournal({after})`; absent when there is no good segment. */
  end?: JournalEnd;
  /** Records that are encrypted and stayed so, for want of the key. */
  sealed: number;
  sessionId?: string;
}
