/**
 * The memory of a resumable run: replies and tool results, by request. Each is written in the same tick in which it becomes
 * available, so that the death of the process can't lose it. Knows neither HTTP nor frameworks.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../errors.ts';
import { findJson, readJournal } from '../journal/read/reader.ts';
import { giveLock, takeLock } from '../journal/write/folder-lock.ts';
import { findSeal, type HostKey, lockedWithoutKey, type ValueSeal } from '../journal/write/value-seal.ts';
import { type JournalWriter, openJournal } from '../journal/write/writer.ts';
import {
  type CallKey,
  type ReplyRecord,
  resumeKinds,
  type SealedRecord,
  type ToolEndRecord,
  type ToolStartRecord,
} from './layout.ts';

export class RunMemory {
  readonly #lock: string;
  readonly #journal: JournalWriter;
  readonly #turns = new Map<string, number>();
  readonly #replies = new Map<string, ReplyRecord>();
  readonly #started = new Map<string, ToolStartRecord>();
  readonly #ended = new Map<string, ToolEndRecord>();

  /** Undefined without a key, and in a run that was started without one. */
  #seal: ValueSeal | undefined;

  /** Throws `unwritable` if another process holds the run, or the disk fails; `locked` if the key is missing or wrong. */
  constructor(dir: string, id: string, key?: HostKey) {
    this.#seal = findSeal('resume', key);
    const folder = join(
      dir,
      `${id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}-${hashOf(id).slice(0, 16)}`,
    );
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#lock = `${folder}.lock`;
    const owner = takeLock(this.#lock);
    if (owner !== undefined) throw inUse(folder, id, owner);
    const end = this.#readOrLetGo(folder);
    this.#journal = openJournal({
      dir: folder,
      sessionId: hashOf(id),
      maxBytes: Number.POSITIVE_INFINITY,
      ...(end && { after: end }),
    });
  }

  /** The key of the next call of this kind with these contents. */
  next(kind: string, contents: unknown): CallKey {
    const asked = JSON.stringify([kind, contents]);
    const key = this.#seal?.sum(asked) ?? hashOf(asked);
    const turn = this.#turns.get(key) ?? 0;
    this.#turns.set(key, turn + 1);
    return { key, turn };
  }

  findReply(call: CallKey): ReplyRecord | undefined {
    return this.#replies.get(nameOf(call));
  }

  findToolEnd(call: CallKey): ToolEndRecord | undefined {
    return this.#ended.get(nameOf(call));
  }

  /** Whether the call was started by a process that died before it ended, so that it is unknown whether it had its effect. */
  isInDoubt(call: CallKey): boolean {
    return this.#started.has(nameOf(call)) && !this.#ended.has(nameOf(call));
  }

  keepReply(reply: ReplyRecord): void {
    this.#append(resumeKinds.reply, reply);
  }

  keepToolStart(start: ToolStartRecord): void {
    this.#append(resumeKinds.toolStart, start);
  }

  keepToolEnd(end: ToolEndRecord): void {
    this.#append(resumeKinds.toolEnd, end);
  }

  close(): void {
    this.#journal.close(true);
    giveLock(this.#lock);
  }

  #append(kind: number, record: CallKey): void {
    const { key, turn, ...rest } = record;
    const beside = `${kind}/${nameOf(record)}`;
    const sealed = this.#seal?.close(Buffer.from(JSON.stringify(rest)), beside).toString('base64');
    this.#journal.append(kind, JSON.stringify(sealed === undefined ? record : { key, turn, sealed }));
  }

  /** Restores the record as it was before encryption. A run is encrypted from its first record or not at all. */
  #open(kind: number, record: CallKey): CallKey {
    const { key, turn, sealed } = record as SealedRecord;
    if (sealed === undefined) this.#seal = undefined;
    else if (!this.#seal) throw lockedWithoutKey();
    else {
      const rest = this.#seal.open(Buffer.from(sealed, 'base64'), `${kind}/${nameOf(record)}`).toString();
      return { ...(JSON.parse(rest) as object), key, turn };
    }
    return record;
  }

  #readOrLetGo(folder: string) {
    try {
      return this.#read(folder);
    } catch (error) {
      giveLock(this.#lock);
      throw error;
    }
  }

  #read(folder: string) {
    try {
      const reading = readJournal(folder);
      for (const record of reading.records) {
        const found = findJson(record) as CallKey | undefined;
        if (!found || !ownKinds.has(record.kind)) continue;
        const value = this.#open(record.kind, found);
        if (record.kind === resumeKinds.reply) this.#replies.set(nameOf(value), value as ReplyRecord);
        else if (record.kind === resumeKinds.toolStart)
          this.#started.set(nameOf(value), value as ToolStartRecord);
        else if (record.kind === resumeKinds.toolEnd) this.#ended.set(nameOf(value), value as ToolEndRecord);
      }
      return reading.end;
    } catch (error) {
      if ((error as AgentdumpError).code === 'not-found') return undefined;
      throw error;
    }
  }
}

const ownKinds = new Set<number>(Object.values(resumeKinds));
const nameOf = ({ key, turn }: CallKey): string => `${key}/${turn}`;

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function inUse(path: string, id: string, owner: string): AgentdumpError {
  const pid = owner.split(':')[1];
  return new AgentdumpError('unwritable', `run ${JSON.stringify(id)} is going on in process ${pid}`, {
    path,
    reason: `locked by process ${pid}`,
  });
}
