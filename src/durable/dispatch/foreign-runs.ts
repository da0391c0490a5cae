/**
 * The runs that a worker has found to be those of another program. It tries such a run a few times, because its own program may have
 * seemed to be another one when the machine was slow. From then on it does not open the run, and so adds nothing to its
 * records, until a process with the right program has continued it, or it was rolled back.
 */
import { RecordCodec } from '../records/codec.ts';
import { RunLog } from '../runs/run-log.ts';
import type { DurableStore, StoredRecord, TakenRun } from '../stores/store.ts';

const mostTries = 3;

interface ForeignRun {
  error: unknown;
  tries: number;
  workSeq: number;
}

export class ForeignRuns {
  readonly #store: DurableStore;
  readonly #known = new Map<string, ForeignRun>();

  constructor(store: DurableStore) {
    this.#store = store;
  }

  /** `error` is why this worker can't continue the run. */
  async note(id: string, error: unknown): Promise<void> {
    try {
      const { records } = await this.#store.read(id);
      const workSeq = lastWorkOf(records);
      const before = this.#known.get(id);
      const tries = before?.workSeq === workSeq ? before.tries + 1 : 1;
      this.#known.set(id, { error, tries, workSeq });
    } catch {
      // The store is unavailable: this try does not count.
    }
  }

  /** Why this worker can't continue the run, if that is known and has not changed. */
  async findReason({ id, handle }: TakenRun): Promise<unknown> {
    const known = this.#known.get(id);
    if (!known || known.tries < mostTries) return undefined;
    const { records } = handle ?? (await this.#store.read(id));
    return lastWorkOf(records) === known.workSeq ? known.error : undefined;
  }

  forget(id: string): void {
    this.#known.delete(id);
  }
}

function lastWorkOf(records: readonly StoredRecord[]): number {
  return new RunLog(records, new RecordCodec({})).lastWorkSeq;
}
