/**
 * Jobs that are loading or loaded: one thread per job, its progress for listeners, and its result until newer ones displace
 * it. A failed or cancelled job is forgotten, so that a new request starts it again.
 */
import type { Worker } from 'node:worker_threads';
import { AgentdumpError } from '../../errors.ts';
import { startThread } from '../../formats/heapsnapshot/index.ts';
import type { JobEvent, Progress } from '../protocol.ts';
import type { NumberedQuestion, Question, Said, Work } from './work.ts';

/** Each holds a whole heap. */
const mostHeaps = 2;

export class Job {
  readonly #worker: Worker;
  readonly #listeners = new Set<(event: JobEvent) => void>();
  readonly #asked = new Map<number, { resolve(answer: string): void; reject(error: Error): void }>();
  #questions = 0;
  #hasEnded = false;
  #last: JobEvent = { kind: 'progress', text: 'starting' };
  readonly holdsHeap: boolean;
  /** JSON. */
  result: string | undefined;

  constructor(work: Work) {
    this.holdsHeap = work.what === 'heap';
    this.#worker = startThread('workbench/items/job-thread', { work });
    this.#worker.on('message', (said: Said) => this.#hear(said));
    this.#worker.once('error', ({ message }: Error) => this.#end({ kind: 'failed', reason: message }));
    this.#worker.once('exit', () => this.#end({ kind: 'failed', reason: 'its thread has ended' }));
    this.#worker.once('exit', () => this.#refuseAll());
  }

  get last(): JobEvent {
    return this.#last;
  }

  get progress(): Progress | undefined {
    return this.#last.kind === 'progress' ? this.#last : undefined;
  }

  /** Calls the listener with the latest event at once. Returns a function that removes it. */
  listen(listener: (event: JobEvent) => void): () => void {
    listener(this.#last);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * For a heap or a memory that is ready. Resolves to JSON; rejects with `usage` for an invalid question, `not-found` if the thread has
   * ended.
   */
  ask(question: Question): Promise<string> {
    const number = ++this.#questions;
    return new Promise((resolve, reject) => {
      this.#asked.set(number, { resolve, reject });
      this.#worker.postMessage({ number, question } satisfies NumberedQuestion);
      if (this.#hasEnded) this.#refuseAll();
    });
  }

  cancel(reason = 'cancelled'): void {
    this.#end({ kind: 'failed', reason });
    this.#refuseAll();
    void this.#worker.terminate();
  }

  #hear(said: Said): void {
    if (said.kind === 'progress') this.#say(said);
    else if (said.kind === 'failed') this.#end(said);
    else if (said.kind === 'answer') this.#settle(said.number)?.resolve(said.answer);
    else if (said.kind === 'refused')
      this.#settle(said.number)?.reject(new AgentdumpError('usage', said.reason));
    else {
      this.result = said.result;
      this.#end({ kind: 'ready' });
    }
  }

  #settle(number: number) {
    const asked = this.#asked.get(number);
    this.#asked.delete(number);
    return asked;
  }

  #refuseAll(): void {
    this.#hasEnded = true;
    const ended = new AgentdumpError('not-found', 'it is no longer open: load the page again');
    for (const number of [...this.#asked.keys()]) this.#settle(number)?.reject(ended);
  }

  #end(event: JobEvent): void {
    if (this.#last.kind === 'progress') this.#say(event);
  }

  #say(event: JobEvent): void {
    this.#last = event;
    for (const listener of this.#listeners) listener(event);
  }
}

export class Jobs {
  /** Least recently used first. */
  readonly #jobs = new Map<string, Job>();
  readonly #mostKept: number;

  /** @param mostKept number of results to keep: each may take some tens of megabytes. */
  constructor(mostKept = 8) {
    this.#mostKept = mostKept;
  }

  get(key: string): Job | undefined {
    return this.#jobs.get(key);
  }

  /** Returns the job with this key, and starts it if necessary. */
  start(key: string, work: Work): Job {
    const known = this.#jobs.get(key);
    this.#jobs.delete(key);
    const job = known ?? new Job(work);
    this.#jobs.set(key, job);
    const settled = [...this.#jobs].filter(([, { progress }]) => progress === undefined);
    for (const [old] of settled.slice(0, Math.max(0, settled.length - this.#mostKept))) this.forget(old);
    const heaps = [...this.#jobs].filter(([, { holdsHeap }]) => holdsHeap);
    for (const [old] of heaps.slice(0, Math.max(0, heaps.length - mostHeaps))) this.forget(old);
    return job;
  }

  forget(key: string): void {
    this.#jobs.get(key)?.cancel();
    this.#jobs.delete(key);
  }

  close(): void {
    for (const key of [...this.#jobs.keys()]) this.forget(key);
  }
}
