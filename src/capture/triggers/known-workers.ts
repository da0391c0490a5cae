/**
 * What tells one worker thread from another: its id, and the name that the program gave it, where Node tells it (from 22 and 24 on).
 * Noted when it begins, because a Worker forgets both when its thread ends. Where it was created is not known: Node reports it in
 * a later tick.
 */

import type { Worker } from 'node:worker_threads';
import { getBuiltinModule } from '../host/intrinsics/intrinsics.ts';

export interface KnownWorker {
  threadId: number;
  name?: string;
}

/** Node's own name for a thread that was given none. */
const unnamed = 'WorkerThread';

/** Those that have not ended, and which of all emitted an error last. */
export class KnownWorkers {
  readonly #open = new Map<Worker, KnownWorker>();
  /** Without a listener of the program, its error becomes the exception of this thread. */
  erring: KnownWorker | undefined;

  get size(): number {
    return this.#open.size;
  }

  get open(): [Worker, KnownWorker][] {
    return [...this.#open];
  }

  get all(): KnownWorker[] {
    return [...this.#open.values()];
  }

  /** Called when its constructor has run. */
  add(worker: Worker): KnownWorker {
    const { threadId } = worker;
    const name = plainName(readName(worker));
    const facts = { threadId, ...(name && { name }) };
    this.#open.set(worker, facts);
    return facts;
  }

  delete(worker: Worker): void {
    this.#open.delete(worker);
  }
}

/** The name of this thread, if it is a worker that was given one. */
export function ownThreadName(): string | undefined {
  return plainName((getBuiltinModule('node:worker_threads') as { threadName?: unknown }).threadName);
}

/** By Node's own getter, whatever a class of the program has in its place. */
function readName(worker: Worker): unknown {
  try {
    const { prototype } = getBuiltinModule('node:worker_threads').Worker;
    const { get } = Object.getOwnPropertyDescriptor(prototype, 'threadName') ?? {};
    return get && Reflect.apply(get, worker, []);
  } catch {
    return undefined;
  }
}

function plainName(name: unknown): string | undefined {
  return typeof name === 'string' && name !== '' && name !== unnamed ? name.slice(0, 100) : undefined;
}
