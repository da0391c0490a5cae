/**
 * Examines uploads on threads with limited memory and time: a hostile file can end its thread, and nothing else. A thread that
 * was lost is replaced for the next file.
 */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../formats/heapsnapshot/thread.ts';
import type { Examined, Question } from './examine-upload.ts';

const memoryMb = 1024;
/** A large heap snapshot takes longest. */
const leastTimeMs = 60_000;
const timePerByteMs = 1000 / 1024 ** 2;

export class Examiner {
  readonly #idle: Worker[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param threads how many files are examined at the same time. */
  constructor(threads: number) {
    this.#free = threads;
  }

  /** @param bytes the size of the file. @throws for an error of ours only. */
  async examine(question: Question, bytes: number): Promise<Examined> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free--;
    const worker =
      this.#idle.pop() ??
      startThread('store/service/examine-thread', {}, { maxOldGenerationSizeMb: memoryMb });
    const limitMs = Math.round(leastTimeMs + bytes * timePerByteMs);
    try {
      const [answer] = (await askThread(worker, question, limitMs)) as [Examined | { failure: string }];
      this.#idle.push(worker);
      if ('failure' in answer) throw new Error(answer.failure);
      return answer;
    } catch (error) {
      const lost = lostBecause(error);
      if (lost === undefined) throw error;
      await worker.terminate();
      return { refused: `it cannot be read: ${lost}` };
    } finally {
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    for (const worker of this.#idle) await worker.terminate();
  }
}

/** What the file did to its thread; undefined for an error of ours, which says nothing about the file. */
function lostBecause(error: unknown): string | undefined {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return 'it took too long';
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it took too much memory' : undefined;
}

/** `once` rejects at an `error` event, such as that of a thread out of memory. */
async function askThread(worker: Worker, question: Question, limitMs: number): Promise<unknown[]> {
  worker.ref();
  try {
    const answer = once(worker, 'message', { signal: AbortSignal.timeout(limitMs) });
    worker.postMessage(question);
    return await answer;
  } finally {
    worker.unref();
  }
}
