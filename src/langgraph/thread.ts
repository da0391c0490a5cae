/**
 * One thread on disk and in memory: its journal, its index, and the lock that makes this process its only writer. The lock is
 * held while writes follow each other and released after a pause, so that another process can continue the thread. Before the
 * next write or read, what that process wrote is read.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentdumpError } from '../errors.ts';
import { findJson, readJournal } from '../journal/read/reader.ts';
import type { JournalReading } from '../journal/read/result.ts';
import { giveLock, takeLock } from '../journal/write/folder-lock.ts';
import { type JournalWriter, openJournal } from '../journal/write/writer.ts';
import type { Draft } from './draft.ts';
import type { Fingerprint } from './fingerprint.ts';
import {
  type CheckpointHead,
  type RecordHead,
  savedKinds,
  savedThreadVersion,
  type ThreadHead,
  type WritesHead,
} from './layout.ts';
import { malformed } from './malformed.ts';
import { decodeCheckpoint, decodeWrites, encodeCheckpoint, encodeWrites } from './record-codec.ts';
import {
  findReadable,
  lockOf,
  readState,
  removeThread,
  settleCompaction,
  swapIn,
  threadKey,
} from './thread-folder.ts';
import { ThreadIndex } from './thread-index.ts';

/** A writer that pauses this long releases the lock. */
const pauseMs = 50;
const pollMs = 5;
const segmentBytes = 16 * 1024 * 1024;

export interface ThreadOptions {
  sync: 'none' | 'data';
  lockWaitMs: number;
}

/** An object that was stored: its blob, and a fingerprint to detect changes. */
export interface Known {
  object: object;
  fingerprint: Fingerprint | undefined;
  blob: number;
}

/** The last value of a channel, by number, and its items if it is a list. */
export interface Recent {
  value: number;
  items: Known[];
}

/** The in-memory state of a thread. Discarded as a whole when another process has written to it. */
export interface ThreadState {
  index: ThreadIndex;
  /** Objects that may occur again. */
  known: WeakMap<object, Known>;
  /** By namespace and channel, until the next pause. */
  recent: Map<string, Recent>;
}

export class Thread {
  readonly folder: string;
  readonly #id: string;
  readonly #options: ThreadOptions;
  #state: ThreadState | undefined;
  #end: JournalReading['end'];
  #seenState = '';
  #writer: JournalWriter | undefined;
  #isLocked = false;
  #lastUse = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, id: string, options: ThreadOptions) {
    this.folder = folder;
    this.#id = id;
    this.#options = options;
  }

  get isLocked(): boolean {
    return this.#isLocked;
  }

  /** The current state on disk. Throws `malformed-input`. */
  read(): ThreadState {
    if (this.#state && (this.#isLocked || readState(this.folder) === this.#seenState)) return this.#state;
    return this.#load();
  }

  /** Afterwards this process is the only writer, until the next pause. Throws `unwritable` after `lockWaitMs`. */
  async lock(): Promise<void> {
    const deadline = Date.now() + this.#options.lockWaitMs;
    while (!this.#isLocked) {
      const owner = this.#tryLock();
      if (owner === undefined) break;
      if (Date.now() > deadline) throw inUse(this.folder, this.#id, owner, this.#options.lockWaitMs);
      await sleep(pollMs);
    }
    this.#lastUse = Date.now();
  }

  /** Writes the draft's record. If it throws `unwritable`, nothing of it remains. The thread must be locked. */
  appendCheckpoint(draft: Draft, rest: Omit<CheckpointHead, keyof RecordHead>): void {
    const head = { ...draft.head, ...rest };
    this.#append(savedKinds.checkpoint, encodeCheckpoint(draft.index.texts, head, draft.literals));
    draft.index.addCheckpoint(head);
  }

  appendWrites(draft: Draft, rest: Omit<WritesHead, keyof RecordHead>): void {
    const head = { ...draft.head, ...rest };
    this.#append(savedKinds.writes, encodeWrites(draft.index.texts, head, draft.literals));
    draft.index.addWrites(head);
  }

  #append(kind: number, payload: Uint8Array): void {
    try {
      const writer = this.#openWriter();
      writer.append(kind, payload);
      if (this.#options.sync === 'data') writer.sync('data');
    } catch (error) {
      // The index now contains data that is not on disk; the next call reads it again.
      this.forget();
      throw error;
    }
  }

  /** The thread must be locked. */
  remove(): void {
    this.forget();
    removeThread(this.folder);
  }

  /** Replaces this thread by what `write` creates. The thread must be locked. */
  rewrite(write: (target: Thread) => void): void {
    const target = new Thread(`${this.folder}.new`, this.#id, this.#options);
    target.#isLocked = true;
    write(target);
    target.#writer?.sync('data');
    target.#writer?.abandon();
    this.forget();
    if (findReadable(target.folder)) swapIn(this.folder);
    else removeThread(this.folder);
  }

  /** Releases the lock. Safe to call at any time. */
  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isLocked) return;
    this.#writer?.sync(this.#options.sync);
    this.#seenState = readState(this.folder);
    this.#isLocked = false;
    this.#state?.recent.clear();
    giveLock(lockOf(this.folder));
  }

  #tryLock(): string | undefined {
    try {
      mkdirSync(dirname(this.folder), { recursive: true, mode: 0o700 });
      const owner = takeLock(lockOf(this.folder));
      if (owner !== undefined) return owner;
      settleCompaction(this.folder);
    } catch (error) {
      throw unwritable(this.folder, error);
    }
    if (this.#state && readState(this.folder) !== this.#seenState) this.forget();
    this.#isLocked = true;
    this.#timer ??= setTimeout(() => this.#releaseAtPause(), pauseMs).unref();
    return undefined;
  }

  /** Restarting a timer for each write would cost more than the write. */
  #releaseAtPause(): void {
    this.#timer = undefined;
    const idleMs = Date.now() - this.#lastUse;
    if (idleMs >= pauseMs) this.release();
    else this.#timer = setTimeout(() => this.#releaseAtPause(), pauseMs - idleMs).unref();
  }

  #openWriter(): JournalWriter {
    if (this.#writer) return this.#writer;
    this.read();
    this.#writer = openJournal({
      dir: this.folder,
      sessionId: threadKey(this.#id),
      maxBytes: Number.POSITIVE_INFINITY,
      segmentBytes,
      ...(this.#end ? { after: this.#end } : {}),
    });
    const head: ThreadHead = { version: savedThreadVersion, threadId: this.#id };
    if (!this.#end) this.#writer.append(savedKinds.thread, JSON.stringify(head));
    return this.#writer;
  }

  forget(): void {
    this.#writer?.abandon();
    this.#writer = undefined;
    this.#state = undefined;
    this.#end = undefined;
  }

  #load(): ThreadState {
    this.forget();
    this.#seenState = readState(this.folder);
    const index = new ThreadIndex();
    const from = findReadable(this.folder);
    if (from) this.#end = readInto(index, from);
    this.#state = { index, known: new WeakMap(), recent: new Map() };
    return this.#state;
  }
}

/** The thread id recorded in a folder; undefined if nothing of the thread was written. */
export function findThreadId(folder: string): string | undefined {
  const from = findReadable(folder);
  if (!from) return undefined;
  for (const record of readJournal(from).records)
    if (record.kind === savedKinds.thread) return (findJson(record) as ThreadHead | undefined)?.threadId;
  return undefined;
}

function readInto(index: ThreadIndex, folder: string): JournalReading['end'] {
  const reading = readJournal(folder);
  for (const { kind, payload } of reading.records) {
    if (kind !== savedKinds.checkpoint && kind !== savedKinds.writes) continue;
    if (kind === savedKinds.checkpoint) {
      const { head, literals } = decodeCheckpoint(index.texts, payload);
      index.addRecord(head, literals);
      index.addCheckpoint(head);
    } else {
      const { head, literals } = decodeWrites(index.texts, payload);
      index.addRecord(head, literals);
      index.addWrites(head);
    }
  }
  const newer = reading.gaps.find((gap) => gap.reason === 'newer-version' || gap.reason === 'unreadable');
  if (newer) throw malformed('segment', 'of this version and readable', `${newer.reason}: ${newer.source}`);
  return reading.end;
}

function unwritable(path: string, cause: unknown): AgentdumpError {
  const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new AgentdumpError('unwritable', `the thread can't be written: ${reason}`, { path, reason }, cause);
}

function inUse(path: string, id: string, owner: string, waitedMs: number): AgentdumpError {
  const pid = owner.split(':')[1];
  return new AgentdumpError(
    'unwritable',
    `thread ${JSON.stringify(id)} is being written to by process ${pid}, and was still after ${waitedMs} ms`,
    { path, reason: `locked by process ${pid}` },
  );
}
