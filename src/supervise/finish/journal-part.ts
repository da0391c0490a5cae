/** Copies a program's journal, which was redacted when it was written, into a bundle about the program. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import { listSessions, readSession } from '../../journal/read/session.ts';
import { openSources } from '../../journal/read/source.ts';
import { digestJournal, type JournalDigest } from '../evidence/journal-digest.ts';

const chunkBytes = 1024 * 1024;

export function writeJournalPart(bundle: BundleWriter, folder: string, journal: JournalDigest): void {
  const part = bundle.openPart(partNames.journal);
  for (const source of openSources(folder)) {
    if ('reason' in source) continue;
    for (let offset = 0; offset < source.size; offset += chunkBytes)
      part.write(source.read(offset, chunkBytes));
  }
  part.close();
  for (const gap of journal.gaps) {
    const numbers = gap.toSeq === undefined ? '' : `, records ${gap.fromSeq} to ${gap.toSeq}`;
    bundle.addGap({ part: partNames.journal, reason: `${gap.reason}${numbers}` });
  }
}

/** The journal of a living process, if it keeps one in this dump folder. */
export function writeLiveJournalPart(bundle: BundleWriter, dir: string, pid: number): void {
  const folder = listSessions(dir).find((one) => isOf(one, pid));
  const journal = folder === undefined ? undefined : digestJournal(folder);
  if (folder !== undefined && journal) writeJournalPart(bundle, folder, journal);
}

function isOf(folder: string, pid: number): boolean {
  try {
    return readSession(folder).process.pid === pid;
  } catch {
    return false;
  }
}
