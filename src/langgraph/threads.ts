/**
 * The threads of a folder that are in memory: one object per thread and process, even with several savers, because they share
 * a lock. The least recently used ones are evicted and read again when needed.
 */
import { resolve } from 'node:path';
import { findThreadId, Thread, type ThreadOptions } from './thread.ts';
import { listThreadFolders, threadFolder } from './thread-folder.ts';

const mostInMemory = 128;
/** By folder and id, in the order of last use. */
const open = new Map<string, Thread>();

export class Threads {
  readonly #dir: string;
  readonly #options: ThreadOptions;

  constructor(dir: string, options: ThreadOptions) {
    this.#dir = resolve(dir);
    this.#options = options;
  }

  get(id: string): Thread {
    const key = `${this.#dir}\0${id}`;
    const thread = open.get(key) ?? new Thread(threadFolder(this.#dir, id), id, this.#options);
    open.delete(key);
    open.set(key, thread);
    if (open.size > mostInMemory) forgetOldest();
    return thread;
  }

  /** Ids of all threads on disk. */
  ids(): string[] {
    return listThreadFolders(this.#dir).flatMap((folder) => findThreadId(folder) ?? []);
  }

  release(): void {
    for (const [key, thread] of open) if (key.startsWith(`${this.#dir}\0`)) thread.release();
  }
}

function forgetOldest(): void {
  for (const [key, thread] of open) {
    if (thread.isLocked) continue;
    thread.forget();
    open.delete(key);
    return;
  }
}
