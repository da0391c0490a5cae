/**
 * One pass over a journal's sources: tracks the position and the expected next record, and reports deviations. The state
 * machine of the reader; single frames are validated in read/frame.ts.
 */
import { segmentHeader } from '../layout/journal.ts';
import { recordKinds } from '../layout/records.ts';
import { findNextGood, type RecordFacts, readHeader, readRecord, type SegmentFacts } from './frame.ts';
import type { JournalGap, JournalReading, JournalRecord } from './result.ts';
import { SealReader, type Unseal } from './seal.ts';
import type { JournalSource, MaybeSource } from './source.ts';

export class JournalWalk {
  readonly #reading: JournalReading;
  readonly #seals: SealReader;
  #header: SegmentFacts | undefined;
  /** The seed of the checksums of the current segment; undefined outside of a segment of this journal. */
  #seed: number | undefined;
  #nextSeq = 0;
  /** The checksum to which the next record must link; undefined if anything may follow. */
  #link: number | undefined;

  constructor(reading: JournalReading, unseal: Unseal | undefined) {
    this.#reading = reading;
    this.#seals = new SealReader(unseal);
  }

  *over(sources: Iterable<MaybeSource>): Generator<JournalRecord> {
    for (const source of sources) {
      if ('reason' in source)
        this.#note({ reason: 'unreadable', source: source.name, detail: source.reason });
      else yield* this.#overSource(source);
    }
  }

  /** Each iteration starts at an offset where a header or a record should begin, and ends at a later one. */
  *#overSource(source: JournalSource): Generator<JournalRecord> {
    let offset = 0;
    this.#seed = undefined;
    while (offset < source.size) {
      const header = readHeader(source, offset);
      if (header === 'newer') {
        this.#note({ reason: 'newer-version', source: source.name, offset });
        return;
      }
      if (header) {
        offset = this.#isNext(header)
          ? this.#enter(header, source.name, offset)
          : this.#stepOverForeign(header, source, offset);
        continue;
      }
      const record =
        this.#seed === undefined ? undefined : readRecord(source, offset, this.#seed, this.#nextSeq);
      if (record) {
        yield this.#take(record, source.name, offset);
        offset = record.end;
        continue;
      }
      offset = this.#stepOver(source, offset);
    }
  }

  /** Whether it belongs to this journal and is later than what was read. */
  #isNext(header: SegmentFacts): boolean {
    this.#reading.sessionId ??= header.id;
    return header.id === this.#reading.sessionId && (!this.#header || header.segment > this.#header.segment);
  }

  /** Returns the offset of the segment's first record. */
  #enter(header: SegmentFacts, source: string, offset: number): number {
    this.#settleTorn();
    const last = this.#header;
    const isNext = header.segment === (last ? last.segment + 1 : 0);
    if (!isNext) this.#noteMissing('segments-missing', source, offset, header.firstSeq);
    else if (last && this.#link !== undefined && header.previous !== this.#link)
      this.#note({ reason: 'chain-broken', source, offset });
    this.#header = header;
    this.#seed = header.checksum;
    this.#link = header.previous;
    if (!isNext) this.#nextSeq = Math.max(this.#nextSeq, header.firstSeq);
    this.#reading.end = { segment: header.segment, nextSeq: this.#nextSeq, checksum: header.previous };
    return offset + segmentHeader.bytes;
  }

  /** A whole segment, or a copy of one inside a damaged record. The current segment may continue after it. */
  #stepOverForeign(header: SegmentFacts, source: JournalSource, offset: number): number {
    const next = findNextGood(source, offset + 1, this.#seed, this.#nextSeq) ?? source.size;
    const detail = `segment ${header.segment} of ${header.id}`;
    this.#note({ reason: 'foreign', source: source.name, offset, bytes: next - offset, detail });
    return next;
  }

  #take(record: RecordFacts, source: string, offset: number): JournalRecord {
    if (record.seq > this.#nextSeq) this.#noteMissing('records-missing', source, offset, record.seq);
    if (this.#link !== undefined && record.previous !== this.#link)
      this.#note({ reason: 'chain-broken', source, offset, fromSeq: record.seq, toSeq: record.seq });
    this.#nextSeq = record.seq + 1;
    this.#link = record.checksum;
    const segment = this.#header?.segment ?? 0;
    this.#reading.end = { segment, nextSeq: this.#nextSeq, checksum: record.checksum };
    const { seq, kind, atMs, isText, payload } = record;
    if (kind === recordKinds.sealKey) this.#seals.takeKey(payload);
    if (!record.isSealed) return { seq, kind, atMs, isText, payload, segment };
    const plain = this.#seals.open(record.frame, payload);
    if (plain) return { seq, kind, atMs, isText, payload: plain, segment };
    if (this.#seals.hasKey)
      this.#note({ reason: 'seal-broken', source, offset, fromSeq: seq, toSeq: seq + 1 });
    else this.#reading.sealed++;
    return { seq, kind, atMs, isText, payload, segment, sealed: true };
  }

  /**
   * The bytes at `offset` are not valid: reports them and returns the offset at which to continue, at most the source's end.
   */
  #stepOver(source: JournalSource, offset: number): number {
    const next = findNextGood(source, offset + 1, this.#seed, this.#nextSeq);
    const bytes = (next ?? source.size) - offset;
    const isOurs = this.#seed !== undefined;
    if (isOurs && next === undefined) this.#reading.torn = { source: source.name, offset, bytes };
    else if (isOurs) this.#note({ reason: 'damaged', source: source.name, offset, bytes });
    else this.#noteHeaderless(source, offset, bytes);
    this.#link = undefined;
    return next ?? source.size;
  }

  /** Bytes of a file before any header: the header was destroyed, or is torn. */
  #noteHeaderless(source: JournalSource, offset: number, bytes: number): void {
    if (source.size < segmentHeader.bytes)
      this.#reading.torn = { source: source.name, offset, bytes: source.size };
    else this.#note({ reason: 'header-damaged', source: source.name, offset, bytes });
  }

  #noteMissing(reason: JournalGap['reason'], source: string, offset: number, toSeq: number): void {
    this.#note({ reason, source, offset, fromSeq: this.#nextSeq, toSeq });
  }

  /** After a torn tail the journal continues: a later process resumed it. */
  #settleTorn(): void {
    const { torn } = this.#reading;
    if (!torn) return;
    this.#note({ reason: 'damaged', ...torn });
    delete this.#reading.torn;
  }

  #note(gap: JournalGap): void {
    this.#reading.gaps.push(gap);
  }
}
