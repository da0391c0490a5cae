/**
 * Writes a journal: append-only records that survive the death of the process once `append` has returned. Knows the layout,
 * but not what the records mean. Part of the preload: no dependency, no parser, no timer, and no file before the first
 * record. Not for use by two threads at the same time: each thread has its own folder.
 */
import { mkdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { AgentdumpError } from '../../errors.ts';
import {
  clearJournalVersion,
  type JournalEnd,
  journalVersion,
  maxPayloadBytes,
  recordFrame,
  sealedFlag,
  sealing,
  segmentHeader,
  textFlag,
} from '../layout/journal.ts';
import { recordKinds } from '../layout/records.ts';
import { checksumOf } from './checksum.ts';
import { nowMs, putRecordFrame, putSegmentHeader } from './frame.ts';
import type { RecordSeal } from './seal.ts';
import { SegmentFiles } from './segment-files.ts';

export interface JournalOptions {
  /** The folder of this journal only. Created if absent, including its parents, for the owner only. */
  dir: string;
  /** Written into each segment; at most 64 bytes of UTF-8. */
  sessionId: string;
  /** The limit on disk. The newest segments and the first one are kept. Infinity keeps all. */
  maxBytes?: number;
  segmentBytes?: number;
  /** Continue after the end that a reader found (`JournalReading.end`): numbers and links continue in a new segment. */
  after?: JournalEnd;
  /** Called when a later segment begins, to append what must outlive dropped segments. */
  onSegment?: (journal: JournalWriter) => void;
  /**
   * Encrypts every record except the kinds that it leaves clear, and provides the record that contains its key for the
   * recipients.
   */
  seal?: RecordSeal;
}

const defaultMaxBytes = 32 * 1024 * 1024;
const defaultSegmentBytes = 4 * 1024 * 1024;
/** The first segment is never dropped, so it is small. */
const firstSegmentBytes = 256 * 1024;
const smallestSegmentBytes = 4096;
const bufferBytes = 64 * 1024;

/** Opens a journal. Nothing is written to disk before the first record is flushed. */
export function openJournal(options: JournalOptions): JournalWriter {
  return new JournalWriter(options);
}

export class JournalWriter {
  readonly dir: string;
  readonly #sessionId: string;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  readonly #onSegment: ((journal: JournalWriter) => void) | undefined;
  readonly #seal: RecordSeal | undefined;
  readonly #files: SegmentFiles;
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  readonly #view = new DataView(this.#buffer.buffer);
  /** Bytes of the buffer that are not in the file yet. */
  #pending = 0;
  #segment: number;
  #isOpen = false;
  #isClosed = false;
  #isStartingSegment = false;
  /** Whether the current segment contains the key of its sealed records. */
  #hasKey = false;
  #seed = 0;
  #seq: number;
  #previous: number;
  /** The link as of the last flush, which is restored after a failed write. */
  #flushedPrevious: number;

  constructor(options: JournalOptions) {
    const { maxBytes = defaultMaxBytes, segmentBytes = defaultSegmentBytes, after } = options;
    this.dir = options.dir;
    this.#sessionId = options.sessionId;
    this.#maxBytes = Math.max(maxBytes, 4 * smallestSegmentBytes);
    this.#segmentBytes = Math.max(smallestSegmentBytes, Math.min(segmentBytes, this.#maxBytes / 4));
    this.#onSegment = options.onSegment;
    this.#seal = options.seal;
    this.#files = new SegmentFiles(options.dir, this.#maxBytes);
    this.#segment = after ? after.segment + 1 : 0;
    this.#seq = after?.nextSeq ?? 0;
    this.#previous = after?.checksum ?? 0;
    this.#flushedPrevious = this.#previous;
  }

  /** The number of the next record. */
  get nextSeq(): number {
    return this.#seq;
  }

  /**
   * Adds a record. When it returns, the record and all that were buffered before it can't be lost by the death of the
   * process. A string is stored as UTF-8 text. Returns the record's number. Throws `unwritable` (the disk; what was not
   * written is lost, and the reader reports the gap) or `over-limit` (the payload).
   */
  append(kind: number, payload: Uint8Array | string): number {
    const seq = this.appendBuffered(kind, payload);
    this.flush();
    return seq;
  }

  /** Like `append`, but the record may stay in memory until `flush`, a later `append`, or 64 KB more. */
  appendBuffered(kind: number, payload: Uint8Array | string): number {
    if (this.#isClosed) throw new AgentdumpError('usage', 'the journal is closed', { argument: 'append' });
    if (typeof payload !== 'string') return this.#add(kind, payload, payload.length, 0);
    const most = payload.length * 3;
    if (most > bufferBytes / 4) {
      const bytes = Buffer.from(payload);
      return this.#add(kind, bytes, bytes.length, textFlag);
    }
    return this.#add(kind, payload, most, textFlag);
  }

  /**
   * Runs the code of `append` without leaving anything in the file, because V8 only compiles code that has run. Does nothing
   * before the first record, for a sealed journal, and if the record does not fit into the segment or a quarter of the
   * buffer.
   */
  rehearse(kind: number, payload: Uint8Array | string): void {
    const most = recordFrame.bytes + payload.length * 3;
    if (!this.#isOpen || this.#isClosed || this.#seal || most > bufferBytes / 4 || this.#isFull(most)) return;
    this.flush();
    const [seq, previous] = [this.#seq, this.#previous];
    this.appendBuffered(kind, payload);
    this.#pending = 0;
    this.#seq = seq;
    this.#previous = previous;
    this.#write(this.#buffer, 0);
  }

  /** Passes buffered records to the kernel. Throws `unwritable`. */
  flush(): void {
    if (this.#pending === 0) return;
    const length = this.#pending;
    this.#pending = 0;
    this.#write(this.#buffer, length);
  }

  /** `data`: flushes and waits for the disk, so that a power loss can't lose the records either. */
  sync(mode: 'none' | 'data'): void {
    this.flush();
    if (mode === 'none') return;
    try {
      this.#files.sync();
    } catch (error) {
      throw unwritable(this.dir, error);
    }
  }

  /** Adds the `end` record, whose absence means that the process was cut off. An empty journal stays empty. */
  close(endedWell: boolean, facts: { exitCode?: number; signal?: string } = {}): void {
    if (this.#isClosed) return;
    try {
      if (this.#isOpen) this.append(recordKinds.end, JSON.stringify({ endedWell, ...facts }));
    } finally {
      this.#isClosed = true;
      this.#files.close();
    }
  }

  /** Closes the files without an `end` record: another process continues this journal, or will. */
  abandon(): void {
    this.#isClosed = true;
    this.#files.close();
  }

  /** `most` is the size of the payload, or for a string that has yet to be encoded, the upper bound. */
  #add(kind: number, payload: Uint8Array | string, most: number, flags: number): number {
    const seal = this.#seal?.leavesClear(kind) ? undefined : this.#seal;
    const tagBytes = seal ? sealing.tagBytes : 0;
    if (most + tagBytes > Math.min(maxPayloadBytes, this.#maxBytes / 2))
      throw overLimit(most, this.#maxBytes);
    const key = seal?.keyRecord();
    const bytes = recordFrame.bytes + most + tagBytes;
    this.#makeRoom(bytes + (key ? recordFrame.bytes + key.length : 0));
    if (key && !this.#hasKey) this.#addKey(key);
    if (this.#pending + bytes > bufferBytes) this.flush();
    const seq = this.#seq++;
    if (bytes > bufferBytes) this.#addLarge(kind, payload as Uint8Array, flags, seq, seal);
    else this.#encode(kind, payload, flags, seq, seal);
    return seq;
  }

  /** The segment must have room for it. */
  #addKey(key: Uint8Array): void {
    if (this.#pending + recordFrame.bytes + key.length > bufferBytes) this.flush();
    this.#encode(recordKinds.sealKey, key, 0, this.#seq++, undefined);
    this.#hasKey = true;
  }

  #encode(
    kind: number,
    payload: Uint8Array | string,
    flags: number,
    seq: number,
    seal: RecordSeal | undefined,
  ): void {
    const at = this.#pending;
    const start = at + recordFrame.payload;
    let length: number;
    if (typeof payload === 'string') length = this.#buffer.write(payload, start);
    else {
      this.#buffer.set(payload, start);
      length = payload.length;
    }
    const end = start + length + (seal ? sealing.tagBytes : 0);
    putRecordFrame(this.#view, at, end - start, this.#previous, kind, seal ? flags | sealedFlag : flags, seq);
    seal?.close(this.#buffer, at, this.#buffer.subarray(start, end));
    const checksum = checksumOf(this.#buffer, this.#view, at + recordFrame.length, end, this.#seed);
    this.#view.setUint32(at + recordFrame.checksum, checksum, true);
    this.#previous = checksum;
    this.#pending = end;
  }

  /** A record that is larger than the buffer. The frame is taken from the buffer, the payload from the caller's memory. */
  #addLarge(
    kind: number,
    payload: Uint8Array,
    flags: number,
    seq: number,
    seal: RecordSeal | undefined,
  ): void {
    this.flush();
    const bytes = seal ? Buffer.concat([payload, Buffer.alloc(sealing.tagBytes)]) : payload;
    const allFlags = seal ? flags | sealedFlag : flags;
    putRecordFrame(this.#view, 0, bytes.length, this.#previous, kind, allFlags, seq);
    seal?.close(this.#buffer, 0, bytes);
    const frame = this.#buffer.subarray(recordFrame.length, recordFrame.bytes);
    const checksum = crc32(bytes, crc32(frame, this.#seed));
    this.#view.setUint32(recordFrame.checksum, checksum, true);
    this.#previous = checksum;
    this.#write(Buffer.concat([this.#buffer.subarray(0, recordFrame.bytes), bytes]));
  }

  /** Afterwards there is an open segment with room for `bytes`. */
  #makeRoom(bytes: number): void {
    if (!this.#isOpen) this.#startSegment(bytes);
    else if (this.#isFull(bytes)) {
      this.flush();
      this.#segment++;
      this.#startSegment(bytes);
      this.#carryOver();
    }
  }

  /** Whether the current segment is full. One without a record has room for any size. */
  #isFull(bytes: number): boolean {
    const limit = this.#segment === 0 ? Math.min(firstSegmentBytes, this.#segmentBytes) : this.#segmentBytes;
    const used = this.#files.written + this.#pending;
    return used + bytes > limit && used > segmentHeader.bytes;
  }

  #startSegment(bytes: number): void {
    try {
      if (!this.#isOpen) mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      this.#files.open(this.#segment, Math.max(this.#segmentBytes, bytes + segmentHeader.bytes));
    } catch (error) {
      if (this.#isOpen) this.#segment--;
      // The number is used up, so that a reader detects the missing record.
      this.#seq++;
      throw unwritable(this.dir, error);
    }
    this.#isOpen = true;
    this.#bufferHeader();
  }

  #bufferHeader(): void {
    this.#hasKey = false;
    this.#seed = putSegmentHeader(this.#buffer, {
      version: this.#seal ? journalVersion : clearJournalVersion,
      segment: this.#segment,
      firstSeq: this.#seq,
      createdAtMs: nowMs(),
      previous: this.#previous,
      id: this.#sessionId,
    });
    this.#pending = segmentHeader.bytes;
  }

  #carryOver(): void {
    if (!this.#onSegment || this.#isStartingSegment) return;
    this.#isStartingSegment = true;
    try {
      this.#onSegment(this);
    } finally {
      this.#isStartingSegment = false;
    }
  }

  #write(bytes: Uint8Array, length = bytes.length): void {
    try {
      this.#files.write(bytes, length);
      this.#flushedPrevious = this.#previous;
    } catch (error) {
      this.#previous = this.#flushedPrevious;
      // The key's record may have been among the lost ones.
      this.#hasKey = false;
      if (this.#files.written === 0) this.#bufferHeader();
      throw unwritable(this.dir, error);
    }
  }
}

function unwritable(path: string, cause: unknown): AgentdumpError {
  const reason = (cause as NodeJS.ErrnoException)?.code ?? String(cause);
  return new AgentdumpError('unwritable', `the journal can't be written: ${reason}`, { path, reason }, cause);
}

function overLimit(wanted: number, maxBytes: number): AgentdumpError {
  const allowed = Math.min(maxPayloadBytes, maxBytes / 2);
  return new AgentdumpError('over-limit', `a journal record of ${wanted} bytes is larger than ${allowed}`, {
    limit: 'journal record',
    wanted,
    allowed,
  });
}
