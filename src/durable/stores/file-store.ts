/**
 * Durable runs as folders, `<dir>/runs/<run>/`: a journal, a lease, and the answers to approvals. To continue a run
 * elsewhere, copy the folder. All calls are synchronous: a record has reached the kernel when `append` returns.
 */
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
import { basename, dirname, join, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { type JournalWriter, openJournal } from '../../journal/write/writer.ts';
import { platform } from '../../platform/index.ts';
import { draftIn, isDraft, namesIn, sweepDrafts } from './drafts.ts';
import { type BoardEntry, FileBoard } from './file-board.ts';
import { FileLease, findLeaseHolder, isNotedOver, noteOver } from './file-lease.ts';
import { answerName, decodeName, encodeName, hashMark } from './file-names.ts';
import { FileQueues } from './file-queues.ts';
import { readRunFiles } from './file-records.ts';
import type {
  DueRun,
  DurableStore,
  QueueWish,
  RunHandle,
  RunReading,
  RunRest,
  RunTitle,
  TakenFromQueues,
  TakenRun,
} from './store.ts';

export const runsFolder = 'runs';
const answersFolder = 'answers';
/** How long `findUnlisted` works between two turns of the event loop, which runs need to be taken up meanwhile. */
const longestGoMs = 2;
/** In the folder of a run whose id is too long for a file name. */
const idFile = 'run-id';

/** `dir`: the dump folder; the runs are below it. */
export class FileStore implements DurableStore {
  readonly place: string;
  readonly #board: FileBoard;
  readonly #queues: FileQueues;
  #isClosed = false;

  constructor(dir: string) {
    this.place = join(resolve(dir), runsFolder);
    this.#board = new FileBoard(this.place);
    this.#queues = new FileQueues(this.place, isHeld);
  }

  open(runId: string, title: RunTitle = {}): FileRun {
    this.#requireOpen();
    const folder = this.folderOf(runId);
    const name = basename(folder);
    writable(folder, () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (name.includes(hashMark) && this.#idOf(name) !== runId) writeWhole(join(folder, idFile), runId);
    });
    // The entry is created after the lease, so that no worker finds an empty run that is just being started.
    const lease = writable(folder, () => FileLease.take(folder, runId));
    for (const written of [folder, join(folder, answersFolder)]) sweepDrafts(written);
    try {
      writable(folder, () => this.#board.add(name, runId, title));
      return new FileRun(folder, runId, lease, (rest) => this.#afterRun(name, runId, rest));
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  read(runId: string): RunReading {
    this.#requireOpen();
    const folder = this.folderOf(runId);
    if (!existsSync(folder))
      throw new AgentdumpError('not-found', `no run ${runId} in ${this.place}`, { path: folder, run: runId });
    const { records, notes } = readRunFiles(folder, false);
    const holder = findLeaseHolder(folder);
    return { records, notes, ...(holder !== undefined && { holder }) };
  }

  list(): string[] {
    this.#requireOpen();
    if (!existsSync(this.place)) return [];
    return readdirSync(this.place, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => this.#idOf(name))
      .sort();
  }

  answer(runId: string, path: string, payload: Uint8Array): boolean {
    const folder = join(this.folderOf(runId), answersFolder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = draftIn(folder);
    writeFileSync(draft, payload, { mode: 0o600, flag: 'wx', flush: true });
    try {
      const isNew = linkNew(draft, join(folder, answerName(path)));
      // Also if there was an answer already: its writer may have died before this call.
      this.rest(runId, { isOver: false });
      return isNew;
    } catch (error) {
      throw unwritable(folder, error);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  findAnswer(runId: string, path: string): Uint8Array | undefined {
    const file = join(this.folderOf(runId), answersFolder, answerName(path));
    return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file) : undefined;
  }

  findDue(names: readonly string[], most: number, againMs?: number): DueRun[] {
    this.#requireOpen();
    const due: DueRun[] = [];
    for (const { run: id, name, queue } of this.#board.findDue(names, Date.now())) {
      if (due.length >= most) break;
      if (queue !== undefined) continue;
      const folder = this.folderOf(id);
      // The run was removed, so its entry is useless.
      if (!existsSync(folder)) this.#board.remove(basename(folder));
      else if (!isHeld(folder)) due.push({ id, ...(name !== undefined && { name }) });
    }
    if (againMs !== undefined)
      for (const { id } of due) this.rest(id, { isOver: false, dueAtMs: Date.now() + againMs });
    return due;
  }

  takeQueued({ queues, names, most, except }: QueueWish): TakenFromQueues {
    this.#requireOpen();
    const due = this.#board.findDue(names, Date.now());
    const taken: TakenFromQueues = { runs: [] };
    for (const [queue, limits] of Object.entries(queues)) {
      const ofQueue = due.filter((entry) => entry.queue === queue && !except.includes(entry.run));
      const left = most - taken.runs.length;
      if (ofQueue.length === 0 || left <= 0) continue;
      const { runs, againMs = Number.POSITIVE_INFINITY } = this.#queues.take(
        queue,
        limits,
        ofQueue,
        left,
        (entry) => this.#takeOne(entry),
      );
      taken.runs.push(...runs);
      if (againMs < (taken.againMs ?? Number.POSITIVE_INFINITY)) taken.againMs = againMs;
    }
    return taken;
  }

  /** Undefined if another process has it, or if it was removed. */
  #takeOne({ run: id, name }: BoardEntry): TakenRun | undefined {
    const folder = this.folderOf(id);
    if (!existsSync(folder)) {
      this.#board.remove(basename(folder));
      return undefined;
    }
    const taken = { id, ...(name !== undefined && { name }) };
    try {
      return { ...taken, handle: this.open(id, { ...(name !== undefined && { name }), isWork: true }) };
    } catch (error) {
      return (error as AgentdumpError).code === 'held' ? undefined : { ...taken, error };
    }
  }

  /**
   * Runs without a readable entry (of an older release, copied here, or lost in a power failure), and runs with more answers
   * than when they were put to rest. For runs that have ended, possibly thousands, only the file names are read, a few runs
   * at a time, so that the event loop is not blocked.
   */
  async findUnlisted(): Promise<string[]> {
    this.#requireOpen();
    this.sweepDrafts();
    for (const name of this.#board.listResting())
      if (!existsSync(join(this.place, name))) this.#board.remove(name);
    const found: string[] = [];
    const names = namesIn(this.place);
    let untilMs = 0;
    for (const name of names) {
      if (performance.now() > untilMs) {
        await turnOfTheLoop();
        untilMs = performance.now() + longestGoMs;
      }
      if (!name.startsWith('.') && this.#isUnlisted(name)) found.push(this.#idOf(name));
    }
    return found;
  }

  #isUnlisted(name: string): boolean {
    const folder = join(this.place, name);
    let files: string[];
    try {
      files = readdirSync(folder);
    } catch (error) {
      // What is not a folder is not a run. Other errors must be reported to someone.
      return !['ENOTDIR', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
    }
    if (isNotedOver(files)) return false;
    const entry = this.#board.find(name);
    if (!entry) return true;
    const { dueAtMs, isFirm, answers = dueAtMs === 'never' ? 0 : Number.POSITIVE_INFINITY } = entry;
    return dueAtMs !== 0 && !isFirm && countAnswers(folder) > answers;
  }

  /** Removes drafts of killed processes next to the entries of runs, and in queues. */
  sweepDrafts(nowMs?: number): void {
    this.#board.sweepDrafts(nowMs);
    this.#queues.sweepDrafts(nowMs);
  }

  rest(runId: string, rest: RunRest): void {
    const folder = this.folderOf(runId);
    // A held run can only be made due: an unnecessary look does no harm, a missing one does.
    if (!rest.isOver && rest.dueAtMs === undefined)
      this.#board.wake(basename(folder), runId, countAnswers(folder));
    else if (!isHeld(folder)) this.#putToRest(basename(folder), runId, rest, countAnswers(folder));
  }

  watch(tell: (runId: string) => void): () => void {
    return this.#board.watch(tell);
  }

  /** Runs that were taken remain so until they are released. */
  close(): void {
    this.#isClosed = true;
  }

  folderOf(runId: string): string {
    return join(this.place, encodeName(runId));
  }

  #requireOpen(): void {
    if (this.#isClosed)
      throw new AgentdumpError('closed', `the store ${this.place} is closed`, { path: this.place });
  }

  #idOf(folderName: string): string {
    if (!folderName.includes(hashMark)) return decodeName(folderName);
    try {
      return readFileSync(join(this.place, folderName, idFile), 'utf8') || folderName;
    } catch {
      return folderName;
    }
  }

  #afterRun(folderName: string, runId: string, rest: RunRest | undefined): void {
    const folder = join(this.place, folderName);
    if (!existsSync(folder)) this.#board.remove(folderName);
    if (!rest) return;
    const seen = rest.mark === undefined ? countAnswers(folder) : Number(rest.mark);
    this.#putToRest(folderName, runId, rest, seen);
    // A process that stored an answer before this entry was written may also have made the run due before it was written.
    if (!rest.isOver && countAnswers(folder) > seen) this.#board.wake(folderName, runId, seen);
  }

  #putToRest(folderName: string, runId: string, rest: RunRest, answers: number): void {
    const folder = join(this.place, folderName);
    if (rest.isOver && existsSync(folder)) noteOver(folder);
    this.#board.rest(folderName, runId, rest, answers);
  }
}

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/** If this can't be determined, the process that takes the run receives the error. */
function isHeld(folder: string, ifUnknown = false): boolean {
  try {
    return findLeaseHolder(folder) !== undefined;
  } catch (error) {
    return ifUnknown && (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Answers are never removed. */
function countAnswers(folder: string): number {
  return namesIn(join(folder, answersFolder)).filter((name) => !isDraft(name)).length;
}

/** False if there is one already. */
function linkNew(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function writable<Result>(folder: string, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    if (cause instanceof AgentdumpError) throw cause;
    throw unwritable(folder, cause);
  }
}

function writeWhole(path: string, text: string): void {
  const draft = draftIn(dirname(path));
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  platform.files.rename(draft, path);
}

class FileRun implements RunHandle {
  readonly epoch: number;
  readonly records: RunHandle['records'];
  readonly notes: readonly string[];
  readonly gaps: readonly number[];
  readonly #lease: FileLease;
  readonly #journal: JournalWriter;
  readonly #folder: string;
  readonly #afterwards: (rest: RunRest | undefined) => void;

  constructor(
    folder: string,
    runId: string,
    lease: FileLease,
    afterwards: (rest: RunRest | undefined) => void,
  ) {
    const { records, notes, gaps, end } = readRunFiles(folder, true);
    this.#lease = lease;
    this.#folder = folder;
    this.#afterwards = afterwards;
    this.epoch = lease.epoch;
    this.records = records;
    this.notes = notes;
    this.gaps = gaps;
    this.#journal = openJournal({
      dir: folder,
      sessionId: runId,
      maxBytes: Number.POSITIVE_INFINITY,
      ...(end && { after: end }),
    });
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

  /** Does not check the lease: its next look, which may find another holder, must not happen in a rehearsal. */
  rehearse(kind: number, payload: string | Uint8Array): void {
    this.#journal.rehearse(kind, payload);
  }

  mark(): string {
    return String(countAnswers(this.#folder));
  }

  /**
   * On a full disk this can't be recorded; the run is free when this process ends. The state is written while the run is
   * still held, so that no other process can take it in between and have its state overwritten.
   */
  release(rest?: RunRest): void {
    const tellRest = () => (!existsSync(this.#folder) || this.#lease.isHeld) && this.#afterwards(rest);
    for (const letGo of [() => this.#journal.close(true), tellRest, () => this.#lease.release()])
      try {
        letGo();
      } catch {
        // The run's own records are stored, or their writer received the error.
      }
  }
}

function unwritable(path: string, cause: unknown): AgentdumpError {
  const reason = (cause as NodeJS.ErrnoException)?.code ?? String(cause);
  return new AgentdumpError('unwritable', `${path} can't be written: ${reason}`, { path, reason }, cause);
}
