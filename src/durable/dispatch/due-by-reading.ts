/**
 * Finds due runs in a store without `findDue`: reads each run until it is known to be over or to belong to other programs.
 */
import { readHeading } from '../inspect.ts';
import type { DueRun, DurableStore, RunRest } from '../stores/store.ts';
import { isClosed } from './troubles.ts';

export class DueByReading {
  readonly #store: DurableStore;
  readonly #names: readonly string[];
  readonly #tell: (id: string, error: unknown) => number;
  /** Runs that need not be read again: they have ended, or belong to programs that are not ours. */
  readonly #settled = new Set<string>();
  readonly #notBefore = new Map<string, number>();

  /** `tell` is called for a run that can't be read, and returns how long to leave it alone. */
  constructor(store: DurableStore, names: readonly string[], tell: (id: string, error: unknown) => number) {
    this.#tell = tell;
    this.#store = store;
    this.#names = names;
  }

  /** Only affects this worker. */
  leave(id: string, { dueAtMs = 0 }: RunRest): void {
    this.#notBefore.set(id, dueAtMs === 'never' ? Number.POSITIVE_INFINITY : dueAtMs);
  }

  async find(isInHand: (id: string) => boolean, takesWaiting: boolean): Promise<DueRun[]> {
    const ids = (await this.#store.list()).filter((id) => !isInHand(id));
    return this.judge(ids, takesWaiting);
  }

  /** Runs that only wait come last, so that they take no place from those with work to do. */
  async judge(ids: readonly string[], takesWaiting: boolean): Promise<DueRun[]> {
    const urgent: DueRun[] = [];
    const waiting: DueRun[] = [];
    for (const id of ids) {
      if (this.#settled.has(id) || (this.#notBefore.get(id) ?? 0) > Date.now()) continue;
      const heading = await this.#read(id);
      if (!heading) continue;
      const { name, queue, isOver, isHeld, isWaiting } = heading;
      if (isOver || (name !== undefined && !this.#names.includes(name))) this.#settled.add(id);
      // Without a name, so that its taker first tells the store about the queue.
      else if (queue && !isHeld) urgent.push({ id });
      else if (name !== undefined && !isHeld) (isWaiting ? waiting : urgent).push({ id, name });
    }
    return takesWaiting ? [...urgent, ...waiting] : urgent;
  }

  /** A run that can't be read does not affect the others. */
  async #read(id: string) {
    try {
      return await readHeading(this.#store, id);
    } catch (error) {
      if (isClosed(error)) throw error;
      this.#notBefore.set(id, Date.now() + this.#tell(id, error));
      return undefined;
    }
  }
}
