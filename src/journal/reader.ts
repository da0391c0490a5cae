/**
 * Reads a journal, whatever state its writer's death left it in. A torn tail is where it ends and no error; damage in
 * the middle is stepped over and named; nothing that the bytes say makes it throw. Knows the frame of the records and
 * not what they mean. Streams: holds one window of a file and one record.
 */
import type { JournalEnd } from './layout.ts';
import type { Unseal } from './reader-seal.ts';
import { type JournalSource, type MaybeSource, openSources, sourceOfBytes } from './reader-source.ts';
import { JournalWalk } from './reader-walk.ts';

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

/**
 * `where`: a journal's folder, one file of it, or the bytes of a file, which may hold several segments end to end.
 * `unseal` opens the key of sealed records. Throws `not-found` when there is nothing at the path.
 */
export function readJournal(where: string | Uint8Array | JournalSource, unseal?: Unseal): JournalReading {
  const reading: JournalReading = { records: [], gaps: [], sealed: 0 };
  reading.records = new JournalWalk(reading, unseal).over(sourcesOf(where));
  return reading;
}

/** A text payload as JSON; undefined when it is neither. */
export function findJson(record: JournalRecord): unknown {
  if (!record.isText || record.sealed) return undefined;
  try {
    return JSON.parse(Buffer.from(record.payload).toString('utf8'));
  } catch {
    return undefined;
  }
}

function sourcesOf(where: string | Uint8Array | JournalSource): Iterable<MaybeSource> {
  if (typeof where === 'string') return openSources(where);
  return [where instanceof Uint8Array ? sourceOfBytes('bytes', where) : where];
}
