/**
 * Reads the journal of a run that is a folder: every acknowledged record, and descriptions of what was left out. A worker
 * that was taken over while it was suspended may have written after its successor began, so a segment is read only up to
 * where the next one begins.
 */
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalEnd } from '../../journal/layout/journal.ts';
import { recordKinds } from '../../journal/layout/records.ts';
import { readJournal } from '../../journal/read/reader.ts';
import type { JournalGap, JournalReading, JournalRecord } from '../../journal/read/result.ts';
import type { StoredRecord } from './store.ts';

export interface RunFiles {
  records: StoredRecord[];
  notes: string[];
  /** The first number of each gap between the records. */
  gaps: number[];
  end?: JournalEnd;
}

const segmentFile = /^\d{8,}\.journal$/;

/** `forWriting`: a last segment without records, left by a death, is removed so that its name is free. */
export function readRunFiles(folder: string, forWriting: boolean): RunFiles {
  const files: RunFiles = { records: [], notes: [], gaps: [] };
  const segments = readSegments(folder, forWriting);
  segments.forEach(({ name, records, reading }, index) => {
    const limit = segments.slice(index + 1).find((later) => later.records.length > 0)?.records[0]?.seq;
    const kept = limit === undefined ? records : records.filter(({ seq }) => seq < limit);
    if (kept.length < records.length)
      files.notes.push(`${name}: ${records.length - kept.length} records of a worker that was taken over`);
    files.records.push(...kept.filter(({ kind }) => kind >= recordKinds.durableRun));
    files.notes.push(...notesOf(name, reading));
    files.gaps.push(...gapsOf(reading, limit));
    if (reading.end) files.end = joinEnds(files.end, reading.end, limit);
  });
  return files;
}

interface Segment {
  name: string;
  records: JournalRecord[];
  reading: JournalReading;
}

function readSegments(folder: string, forWriting: boolean): Segment[] {
  const names = readdirSync(folder)
    .filter((name) => segmentFile.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const segments: Segment[] = [];
  for (const name of names) {
    const reading = readJournal(join(folder, name));
    const records = [...reading.records];
    const isStillborn = records.length === 0 && name === names.at(-1) && reading.gaps.every(isExpected);
    if (!isStillborn) segments.push({ name, records, reading });
    else if (forWriting) unlinkSync(join(folder, name));
  }
  return segments;
}

/**
 * Number and link of the next record: after the last record, or where the records of a worker that was taken over are cut
 * off.
 */
function joinEnds(before: JournalEnd | undefined, end: JournalEnd, limit: number | undefined): JournalEnd {
  const nextSeq = Math.max(before?.nextSeq ?? 0, Math.min(end.nextSeq, limit ?? end.nextSeq));
  return { segment: end.segment, nextSeq, checksum: end.checksum };
}

/** Each file is read separately, so all but the first seem to lack the previous ones. */
const isExpected = ({ reason }: JournalGap) => reason === 'segments-missing';

/** A gap without a record behind it may be a torn end. */
function gapsOf({ gaps }: JournalReading, limit = Number.POSITIVE_INFINITY): number[] {
  return gaps.flatMap((gap) =>
    isExpected(gap) || gap.fromSeq === undefined || gap.fromSeq >= limit ? [] : gap.fromSeq,
  );
}

function notesOf(name: string, { gaps, torn }: JournalReading): string[] {
  const notes = gaps
    .filter((gap) => !isExpected(gap))
    .map(({ reason, bytes, fromSeq, toSeq }) => {
      const what = bytes === undefined ? `records ${fromSeq} to ${(toSeq ?? 1) - 1}` : `${bytes} bytes`;
      return `${name}: ${reason}, ${what}`;
    });
  if (torn)
    notes.push(`${name}: a torn tail of ${torn.bytes} bytes was left out: a write that the death cut`);
  return notes;
}
