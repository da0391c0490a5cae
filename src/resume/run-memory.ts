/**
 * What a resumable run remembers: replies and tool results by what was asked. Each is written in the tick in which it
 * is there, so that the death of the process can't lose it. Knows neither HTTP nor frameworks.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../errors.ts';
import { giveLock, takeLock } from '../journal/folder-lock.ts';
import { findJson, readJournal } from '../journal/reader.ts';
import { type JournalWriter, openJournal } from '../journal/writer.ts';
import {
  type CallKey,
  type ReplyRecord,
  resumeKinds,
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

  /** Throws `unwritable` when another process has the run, or the disk fails. */
  constructor(dir: string, id: string) {
    const folder = join(
      dir,
      `${id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}-${hashOf(id).slice(0, 16)}`,
    );
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#lock = `${folder}.lock`;
    const owner = takeLock(this.#lock);
    if (owner !== undefined) throw inUse(folder, id, owner);
    const end = this.#read(folder);
    this.#journal = openJournal({
      dir: folder,
      sessionId: hashOf(id),
      maxBytes: Number.POSITIVE_INFINITY,
      ...(end && { after: end }),
    });
  }

  /** The next call of this kind with these contents. */
  next(kind: string, contents: unknown): CallKey {
    const key = hashOf(JSON.stringify([kind, contents]));
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

  /** It was started by a process that died before it ended: whether it had its effect is not known. */
  isInDoubt(call: CallKey): boolean {
    return this.#started.has(nameOf(call)) && !this.#ended.has(nameOf(call));
  }

  keepReply(reply: ReplyRecord): void {
    this.#journal.append(resumeKinds.reply, JSON.stringify(reply));
  }

  keepToolStart(start: ToolStartRecord): void {
    this.#journal.append(resumeKinds.toolStart, JSON.stringify(start));
  }

  keepToolEnd(end: ToolEndRecord): void {
    this.#journal.append(resumeKinds.toolEnd, JSON.stringify(end));
  }

  close(): void {
    this.#journal.close(true);
    giveLock(this.#lock);
  }

  #read(folder: string) {
    try {
      const reading = readJournal(folder);
      for (const record of reading.records) {
        const value = findJson(record) as CallKey | undefined;
        if (!value) continue;
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
