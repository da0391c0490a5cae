/**
 * Durable runs as folders, `<dir>/runs/<run>/`: a journal, a lease, and the answers to approvals. To go on elsewhere it is
 * enough to copy the folder. All calls are synchronous: a record is the kernel's when `append` returns.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { type JournalWriter, openJournal } from '../../journal/write/writer.ts';
import { FileLease, findLeaseHolder } from './file-lease.ts';
import { readRunFiles } from './file-records.ts';
import type { DurableStore, RunHandle, RunReading } from './store.ts';

export const runsFolder = 'runs';
const answersFolder = 'answers';
const longestName = 200;

/** `dir`: the dump folder; the runs are below it. */
export class FileStore implements DurableStore {
  readonly place: string;

  constructor(dir: string) {
    this.place = join(resolve(dir), runsFolder);
  }

  open(runId: string): FileRun {
    const folder = this.folderOf(runId);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw unwritable(folder, cause);
    }
    return FileRun.open(folder, runId);
  }

  read(runId: string): RunReading {
    const folder = this.folderOf(runId);
    if (!existsSync(folder))
      throw new AgentdumpError('not-found', `no run ${runId} in ${this.place}`, { path: folder });
    const { records, notes } = readRunFiles(folder, false);
    const holder = findLeaseHolder(folder);
    return { records, notes, ...(holder !== undefined && { holder }) };
  }

  list(): string[] {
    if (!existsSync(this.place)) return [];
    return readdirSync(this.place, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => decodeName(name))
      .sort();
  }

  answer(runId: string, path: string, payload: Uint8Array): boolean {
    const folder = join(this.folderOf(runId), answersFolder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = join(folder, `.draft-${process.pid}-${process.hrtime.bigint()}`);
    writeFileSync(draft, payload, { mode: 0o600, flag: 'wx', flush: true });
    try {
      linkSync(draft, join(folder, answerName(path)));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw unwritable(folder, error);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  findAnswer(runId: string, path: string): Uint8Array | undefined {
    const file = join(this.folderOf(runId), answersFolder, answerName(path));
    return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file) : undefined;
  }

  close(): void {}

  folderOf(runId: string): string {
    return join(this.place, encodeName(runId));
  }
}

class FileRun implements RunHandle {
  readonly epoch: number;
  readonly records: RunHandle['records'];
  readonly notes: readonly string[];
  readonly #lease: FileLease;
  readonly #journal: JournalWriter;

  private constructor(folder: string, runId: string, lease: FileLease) {
    const { records, notes, end } = readRunFiles(folder, true);
    this.#lease = lease;
    this.epoch = lease.epoch;
    this.records = records;
    this.notes = notes;
    this.#journal = openJournal({
      dir: folder,
      sessionId: runId,
      maxBytes: Number.POSITIVE_INFINITY,
      ...(end && { after: end }),
    });
  }

  static open(folder: string, runId: string): FileRun {
    const lease = FileLease.take(folder, runId);
    try {
      return new FileRun(folder, runId, lease);
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  append(kind: number, payload: string | Uint8Array, sync: boolean): number {
    this.#lease.verify();
    const seq = this.#journal.append(kind, payload);
    if (sync) this.#journal.sync('data');
    return seq;
  }

  onLost(tell: (error: Error) => void): void {
    this.#lease.onLost = tell;
  }

  /** Not the lease: a look that finds another holder must not be spent on a rehearsal. */
  rehearse(kind: number, payload: string | Uint8Array): void {
    this.#journal.rehearse(kind, payload);
  }

  /** On a full disk nothing more can be said: then the run is free when this process has ended. */
  release(): void {
    for (const letGo of [() => this.#journal.close(true), () => this.#lease.release()])
      try {
        letGo();
      } catch {
        // The run's own records are kept, or their writer was told.
      }
  }
}

/** A file name that says the text, in every file system. */
function encodeName(text: string): string {
  const name = encodeURIComponent(text).replace(/^\./, '%2E').replace(/\*/g, '%2A');
  if (name !== '' && name.length <= longestName) return name;
  const message = `the id of a run must have 1 to ${longestName} characters in a URL: ${text}`;
  throw new AgentdumpError('usage', message, { argument: 'id' });
}

/** As `encodeName`, but a long one is its hash: nobody has to read it back. */
function answerName(path: string): string {
  const isShort = path !== '' && encodeURIComponent(path).length <= longestName;
  return isShort ? encodeName(path) : `sha256-${createHash('sha256').update(path).digest('hex')}`;
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function unwritable(path: string, cause: unknown): AgentdumpError {
  const reason = (cause as NodeJS.ErrnoException)?.code ?? String(cause);
  return new AgentdumpError('unwritable', `${path} can't be written: ${reason}`, { path, reason }, cause);
}
