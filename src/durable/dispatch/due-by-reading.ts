/** Which runs are to be taken up, where the store can't tell: reads each until it is known to be over or not ours. */
import { readHeading } from '../inspect.ts';
import type { DueRun, DurableStore, RunRest } from '../stores/store.ts';
import { isClosed } from './troubles.ts';

export class DueByReading {
  readonly #store: DurableStore;
  readonly #names: readonly string[];
  readonly #tell: (id: string, error: unknown) => number;
  /** Runs that need no second look: ended, or of programs that are not ours. */
  readonly #settled = new Set<string>();
  readonly #notBefore = new Map<string, number>();

  /** `tell` of a run that can't be read: how long it is left alone. */
  constructor(store: DurableStore, names: readonly string[], tell: (id: string, error: unknown) => number) {
    this.#tell = tell;
    this.#store = store;
    this.#names = names;
  }

  /** For this worker alone. */
  leave(id: string, { dueAtMs = 0 }: RunRest): void {
    this.#notBefore.set(id, dueAtMs === 'never' ? Number.POSITIVE_INFINITY : dueAtMs);
  }

  async find(isInHand: (id: string) => boolean, takesWaiting: boolean): Promise<DueRun[]> {
    const ids = (await this.#store.list()).filter((id) => !isInHand(id));
    return this.judge(ids, takesWaiting);
  }

  /** Those that only wait come last, so that they take no place from those that have something to do. */
  async judge(ids: readonly string[], takesWaiting: boolean): Promise<DueRun[]> {
    const urgent: DueRun[] = [];
    const waiting: DueRun[] = [];
    for (const id of ids) {
      if (this.#settled.has(id) || (this.#notBefore.get(id) ?? 0) > Date.now()) continue;
      const heading = await this.#read(id);
      if (!heading) continue;
      const { name, isOver, isHeld, isWaiting } = heading;
      if (isOver || (name !== undefined && !this.#names.includes(name))) this.#settled.add(id);
      else if (name !== undefined && !isHeld) (isWaiting ? waiting : urgent).push({ id, name });
    }
    return takesWaiting ? [...urgent, ...waiting] : urgent;
  }

  /** One that can't be read keeps nobody from the others. */
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
