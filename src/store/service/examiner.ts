/**
 * Examines uploads on threads with limited memory and time: a hostile file can end its thread, and nothing else. A thread that
 * was lost is replaced for the next file.
 */
import type { Worker } from 'node:worker_threads';
import { AgentdumpError } from '../../errors.ts';
import { startThread } from '../../formats/heapsnapshot/thread.ts';
import type { Examined, Question } from './examine-upload.ts';

const memoryMb = 1024;
/** A large heap snapshot takes longest. */
const leastTimeMs = 60_000;
const timePerByteMs = 1000 / 1024 ** 2;

/** What a thread sends. `isSpent`: its engine has lost too many texts and would search no further one. */
export type ThreadAnswer = { examined: Examined; isSpent: boolean } | { failure: string };

/** What the file did to its thread; anything else is an error of ours, which says nothing about the file. */
class Lost extends Error {}

export class Examiner {
  readonly #path: string;
  readonly #idle: Worker[] = [];
  readonly #busy = new Set<Worker>();
  #waiting: (() => void)[] = [];
  #free: number;
  #isClosed = false;

  /**
   * @param threads how many files are examined at the same time. @param path of the module that a thread runs, as for
   * `startThread`.
   */
  constructor(threads: number, path = 'store/service/examine-thread') {
    this.#free = threads;
    this.#path = path;
  }

  /** @param bytes the size of the file. @throws for an error of ours only, such as `closed`. */
  async examine(question: Question, bytes: number): Promise<Examined> {
    while (this.#free === 0 && !this.#isClosed)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw closed();
    this.#free--;
    const worker = this.#idle.pop() ?? this.#start();
    this.#busy.add(worker);
    try {
      const answer = await askThread(worker, question, Math.round(leastTimeMs + bytes * timePerByteMs));
      if ('failure' in answer) throw new Error(answer.failure);
      if (!answer.isSpent && !this.#isClosed) this.#idle.push(worker);
      return answer.examined;
    } catch (error) {
      if (this.#isClosed) throw closed();
      if (!(error instanceof Lost)) throw error;
      return { refused: `it cannot be read: ${error.message}` };
    } finally {
      this.#busy.delete(worker);
      if (!this.#idle.includes(worker)) await worker.terminate();
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  /** Also ends what is being examined: its sender asks again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const worker of [...this.#idle, ...this.#busy]) await worker.terminate();
  }

  #start(): Worker {
    const worker = startThread(this.#path, {}, { maxOldGenerationSizeMb: memoryMb });
    // An error that comes after the answer, without a listener, would end the process.
    worker.on('error', () => {});
    worker.once('exit', () => {
      const at = this.#idle.indexOf(worker);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    return worker;
  }
}

const closed = () => new AgentdumpError('unwritable', 'the service is being stopped', { reason: 'closed' });

function askThread(worker: Worker, question: Question, limitMs: number): Promise<ThreadAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
      finish();
    };
    const onMessage = (answer: ThreadAnswer) => settle(() => resolve(answer));
    const onError = (error: NodeJS.ErrnoException) =>
      settle(() => {
        const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        reject(isMemory ? new Lost('it took too much memory') : error);
      });
    const onExit = () => settle(() => reject(new Error('its thread ended without an answer')));
    const timer = setTimeout(() => settle(() => reject(new Lost('it took too long'))), limitMs);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.ref();
    worker.postMessage(question);
  });
}
