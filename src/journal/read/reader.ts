/**
 * Reads a journal, whatever state its writer's death left it in. A torn tail is where it ends and no error; damage in
 * the middle is stepped over and named; nothing that the bytes say makes it throw. Knows the frame of the records and
 * not what they mean. Streams: holds one window of a file and one record.
 */
import type { JournalReading, JournalRecord } from './result.ts';
import type { Unseal } from './seal.ts';
import { type JournalSource, type MaybeSource, openSources, sourceOfBytes } from './source.ts';
import { JournalWalk } from './walk.ts';

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
