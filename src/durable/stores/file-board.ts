/**
 * Which runs of a folder have not ended, and when each is due: a small file for each below `.open/`, so that a worker
 * reads those alone and not the journals of all. A hint, never the truth: what a run has done its journal tells.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { dueTimeOf } from './due-time.ts';
import type { RunRest, RunTitle } from './store.ts';

export const boardFolder = '.open';
const draftStart = '.draft-';

export interface BoardEntry extends Omit<RunTitle, 'dueAtMs'> {
  run: string;
  dueAtMs: number | 'never';
  /** How many answers the run had when it was put to rest. */
  answers?: number;
}

export class FileBoard {
  readonly #folder: string;
  /** By the file that was read: each change makes another one. */
  #read = new Map<string, { inode: number; changedMs: number; entry: BoardEntry }>();

  constructor(runsFolder: string) {
    this.#folder = join(runsFolder, boardFolder);
  }

  /** Names the run if it has no entry yet; what is there stays. */
  add(fileName: string, run: string, { isWork = false, dueAtMs, ...title }: RunTitle): void {
    const before = this.#find(fileName);
    const isNamed = before?.name !== undefined || title.name === undefined;
    if (!before || !isNamed || (isWork && before.dueAtMs !== 0))
      this.#write(fileName, { ...title, ...before, run, dueAtMs: (!isWork && dueTimeOf(dueAtMs)) || 0 });
  }

  /** `answers`: how many it has, when it was looked for them. */
  rest(fileName: string, run: string, { isOver, dueAtMs }: RunRest, answers: number): void {
    if (isOver) this.remove(fileName);
    else this.#write(fileName, { ...this.#find(fileName), run, dueAtMs: dueTimeOf(dueAtMs) ?? 0, answers });
  }

  remove(fileName: string): void {
    rmSync(join(this.#folder, fileName), { force: true });
  }

  /** All that are due, the most urgent first. */
  findDue(names: readonly string[], nowMs: number): BoardEntry[] {
    const before = this.#read;
    this.#read = new Map();
    const due: BoardEntry[] = [];
    for (const fileName of this.#list()) {
      const entry = this.#find(fileName, before);
      if (!entry || entry.dueAtMs === 'never' || entry.dueAtMs > nowMs) continue;
      if (entry.name === undefined || names.includes(entry.name)) due.push(entry);
    }
    const dueAt = ({ dueAtMs }: BoardEntry) => Number(dueAtMs);
    return due.sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0) || dueAt(a) - dueAt(b));
  }

  /** By the name of its file, every entry that can be read. */
  readAll(): Map<string, BoardEntry> {
    const entries = new Map<string, BoardEntry>();
    for (const fileName of this.#list()) {
      const entry = this.#find(fileName);
      if (entry) entries.set(fileName, entry);
    }
    return entries;
  }

  #list(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => !name.startsWith(draftStart));
    } catch {
      return [];
    }
  }

  /** Undefined where the system gives no news of folders. `tell` is given the entry that changed. */
  watch(tell: (run: string) => void): () => void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const watcher = watch(this.#folder, { persistent: false }, (_, fileName) => {
        const entry = fileName === null ? undefined : this.#find(fileName);
        if (entry) tell(entry.run);
      });
      // A folder that is removed, or no more watchers allowed: who waits looks by himself, too.
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    } catch {
      return () => {};
    }
  }

  #find(fileName: string, before = this.#read): BoardEntry | undefined {
    const path = join(this.#folder, fileName);
    try {
      const { ino: inode, mtimeMs: changedMs } = statSync(path);
      let known = before.get(fileName);
      if (known?.inode !== inode || known.changedMs !== changedMs) {
        const entry = JSON.parse(readFileSync(path, 'utf8'));
        if (typeof entry?.run !== 'string' || entry.run === '') return undefined;
        known = { inode, changedMs, entry };
      }
      this.#read.set(fileName, known);
      return known.entry;
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all. */
  #write(fileName: string, entry: BoardEntry): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `${draftStart}${process.pid}-${process.hrtime.bigint()}`);
    writeFileSync(draft, JSON.stringify(entry), { mode: 0o600, flag: 'wx' });
    platform.files.rename(draft, join(this.#folder, fileName));
  }
}
