/**
 * Reads a journal in any state in which its writer's death may have left it. A torn tail is the end of the journal, not an
 * error. Damage in the middle is skipped and reported. No input makes it throw. Knows the frames of records, but not their
 * contents. Streams: keeps one window of a file and one record in memory.
 */
import type { JournalReading, JournalRecord } from './result.ts';
import type { Unseal } from './seal.ts';
import { type JournalSource, type MaybeSource, openSources, sourceOfBytes } from './source.ts';
import { JournalWalk } from './walk.ts';

/**
 * `where`: the folder of a journal, one of its files, or the bytes of a file, which may contain several concatenated
 * segments. `unseal` decrypts the key of sealed records. Throws `not-found` if nothing exists at the path.
 */
export function readJournal(where: string | Uint8Array | JournalSource, unseal?: Unseal): JournalReading {
  const reading: JournalReading = { records: [], gaps: [], sealed: 0 };
  reading.records = new JournalWalk(reading, unseal).over(sourcesOf(where));
  return reading;
}

/** A text payload as JSON; undefined if it is not text or not JSON. */
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
