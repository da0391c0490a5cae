/**
 * Reads a dead process's journal once for the evidence part: counts, first and last time, the end record, and the history of
 * its memory. The records about an agent are interpreted by analysis.
 */
import type { JournalEvidence, MemoryPoint } from '../../bundle/layout/evidence.ts';
import { findKindName, kindsLeftClear, recordKinds } from '../../journal/layout/records.ts';
import { findJson, readJournal } from '../../journal/read/reader.ts';
import type { JournalReading, JournalRecord } from '../../journal/read/result.ts';

export interface JournalDigest {
  evidence: JournalEvidence;
  memory: MemoryPoint[];
  /** Payload of the newest record of this kind, if it is a JSON object. */
  processFacts?: Record<string, unknown>;
  /** Payload of the newest heap profile record. */
  heapProfile?: Record<string, unknown>;
  /** Whether it has unencrypted content. */
  hasClearContent: boolean;
  gaps: JournalReading['gaps'];
}

const mostPoints = 400;

/** Undefined if the folder has no journal. */
export function digestJournal(folder: string): JournalDigest | undefined {
  const reading = readJournal(folder);
  const kinds: Record<string, number> = {};
  const memory = new ThinnedHistory();
  const found: Pick<JournalDigest, 'processFacts' | 'heapProfile'> &
    Pick<JournalEvidence, 'end' | 'heldSignals'> = {};
  let first: JournalRecord | undefined;
  let last: JournalRecord | undefined;
  let records = 0;
  let hasClearContent = false;
  for (const record of reading.records) {
    records++;
    hasClearContent ||= !record.sealed && !kindsLeftClear.has(record.kind);
    first ??= record;
    last = record;
    const name = findKindName(record.kind) ?? `kind ${record.kind}`;
    kinds[name] = (kinds[name] ?? 0) + 1;
    if (record.kind === recordKinds.memorySample) memory.add(asMemoryPoint(record));
    else if (record.kind === recordKinds.processFacts)
      Object.assign(found, { processFacts: asObject(record) });
    else if (record.kind === recordKinds.heapProfile && !record.sealed)
      Object.assign(found, { heapProfile: asObject(record) });
    else if (record.kind === recordKinds.signalsHeld)
      Object.assign(found, { heldSignals: asObject(record)?.['signals'] });
    else if (record.kind === recordKinds.end) Object.assign(found, { end: asObject(record) });
  }
  if (!reading.end && reading.gaps.length === 0 && !reading.torn) return undefined;
  const evidence: JournalEvidence = {
    records,
    ...(first && { firstAt: isoTime(first) }),
    ...(last && { lastAt: isoTime(last) }),
    torn: reading.torn !== undefined,
    ...(found.end && { end: found.end }),
    ...(found.heldSignals && { heldSignals: found.heldSignals }),
    kinds,
  };
  const { processFacts, heapProfile } = found;
  return {
    evidence,
    memory: memory.points,
    ...(processFacts && { processFacts }),
    ...(heapProfile && { heapProfile }),
    hasClearContent,
    gaps: reading.gaps,
  };
}

/** Limits the number of points: keeps the newest half, and every second, fourth, … of the older ones. */
class ThinnedHistory {
  points: MemoryPoint[] = [];

  add(point: MemoryPoint | undefined): void {
    if (!point) return;
    this.points.push(point);
    if (this.points.length < mostPoints) return;
    const half = mostPoints / 2;
    this.points = this.points.filter((_, index) => index >= half || index % 2 === 0);
  }
}

const sampleFields = [
  'rss',
  'heapUsed',
  'heapLimit',
  'external',
  'arrayBuffers',
  'cgroupCurrent',
  'cgroupMax',
  'loopDelayMs',
] as const;

function asMemoryPoint(record: JournalRecord): MemoryPoint | undefined {
  const sample = asObject(record);
  if (!sample) return undefined;
  const point: MemoryPoint = { at: isoTime(record) };
  for (const field of sampleFields) {
    const value = sample[field];
    if (typeof value === 'number' && Number.isFinite(value)) point[field] = value;
  }
  return point;
}

function asObject(record: JournalRecord): Record<string, unknown> | undefined {
  const value = findJson(record);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function isoTime(record: JournalRecord): string {
  return new Date(record.atMs).toISOString();
}
