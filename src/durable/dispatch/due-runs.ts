/** Finds the runs that a worker can take: those of its queues, those without a queue, and those that the store does not know. */
import { firstOpening } from '../runs/open-run.ts';
import type { DueRun, DueWish, TakenRun } from '../stores/store.ts';
import { DueByReading } from './due-by-reading.ts';
import { isClosed, type Troubles } from './troubles.ts';
import type { WorkerOptions } from './worker-options.ts';

/**
 * In a store that can't put runs to rest: how many waiting runs are held per place for a working one. Each costs memory and a
 * lease.
 */
const waitingForEach = 8;
/** The pause between two searches for runs that the store does not know; longer if the search took long. */
const unlistedEveryMs = 60_000;
/** A worker that is started first takes what the store knows to be due. */
const unlistedAfterMs = 2_000;
const unlistedPauses = 30;
const unlistedInOneLook = 50;
const longestLookMs = 10;

/** What the worker has in hand. */
export interface InHand {
  ids: readonly string[];
  /** How many of them only wait. */
  waiting: number;
  most: number;
}

export interface FoundRuns {
  runs: TakenRun[];
  /** Another look would find nothing else now. */
  isAll: boolean;
  /** A rate of a queue permits another run after this time. */
  againMs?: number | undefined;
}

export class DueRuns {
  readonly #options: WorkerOptions;
  readonly #names: string[];
  readonly #troubles: Troubles;
  readonly #wake: () => void;
  readonly #byReading: DueByReading;
  #opening: DueWish['opening'] | undefined;
  #areQueuesFirst = false;
  #unlisted: string[] = [];
  #unlistedAtMs = performance.now() + unlistedAfterMs;
  #isSearching = false;

  constructor(options: WorkerOptions, troubles: Troubles, wake: () => void) {
    this.#options = options;
    this.#names = Object.keys(options.programs);
    this.#troubles = troubles;
    this.#wake = wake;
    this.#byReading = new DueByReading(options.store, this.#names, (id, error) =>
      troubles.note(runOf(id), error),
    );
  }

  /** Only affects this worker. */
  leave(...[id, rest]: Parameters<DueByReading['leave']>): void {
    this.#byReading.leave(id, rest);
  }

  /** Runs of queues and those without one take turns at being first, so that neither can keep the others from the worker. */
  async find(free: number, inHand: InHand): Promise<FoundRuns> {
    const { store, queues } = this.#options;
    const isAll = store.takeDue !== undefined;
    if (!queues || !store.takeQueued) {
      const runs = await this.#findWithoutQueue(free, inHand);
      return { runs, isAll: isAll && runs.length < free };
    }
    this.#areQueuesFirst = !this.#areQueuesFirst;
    const before = this.#areQueuesFirst ? [] : await this.#findWithoutQueue(free, inHand);
    const left = free - before.length;
    const ofQueues =
      left > 0 ? await store.takeQueued({ ...this.#wish(left, inHand), queues }) : { runs: [] };
    const runs = [...before, ...ofQueues.runs];
    if (this.#areQueuesFirst && runs.length < free)
      runs.push(...(await this.#findWithoutQueue(free - runs.length, inHand)));
    return { runs, isAll: isAll && runs.length < free, againMs: ofQueues.againMs };
  }

  async #findWithoutQueue(free: number, inHand: InHand): Promise<TakenRun[]> {
    const { store } = this.#options;
    if (store.takeDue) return store.takeDue(this.#wish(free, inHand));
    if (!store.findDue)
      return this.#byReading.find(
        (id) => inHand.ids.includes(id),
        inHand.waiting < inHand.most * waitingForEach,
      );
    // Runs that are left alone may come first, and must not reduce the number of others.
    const due = await store.findDue(this.#names, free + this.#troubles.leftAlone.length);
    return [...due, ...(await this.#findUnlisted(free - due.length))];
  }

  #wish(most: number, { ids }: InHand): DueWish {
    this.#opening ??= firstOpening(this.#options.options ?? {});
    const leftAlone = this.#troubles.leftAlone.filter(isRun).map(idOfRun);
    return { names: this.#names, most, except: [...ids, ...leftAlone], opening: this.#opening };
  }

  /** A few per look: there may be thousands, nearly all of them over. */
  async #findUnlisted(free: number): Promise<DueRun[]> {
    const found: DueRun[] = [];
    if (this.#unlisted.length === 0 && performance.now() > this.#unlistedAtMs) void this.#searchUnlisted();
    const untilMs = performance.now() + longestLookMs;
    for (let left = unlistedInOneLook; left > 0 && found.length < free; left--) {
      if (performance.now() > untilMs) break;
      const id = this.#unlisted.shift();
      if (id === undefined) break;
      found.push(...(await this.#byReading.judge([id], true)));
    }
    return found;
  }

  /** Concurrent with the looks, because it may examine every run in the store. */
  async #searchUnlisted(): Promise<void> {
    const { store } = this.#options;
    if (!store.findUnlisted || this.#isSearching) return;
    this.#isSearching = true;
    const beganMs = performance.now();
    try {
      this.#unlisted = [...(await store.findUnlisted())];
    } catch (error) {
      if (!isClosed(error)) this.#troubles.note(store.place, error);
    }
    const tookMs = performance.now() - beganMs;
    this.#unlistedAtMs = performance.now() + Math.max(unlistedEveryMs, unlistedPauses * tookMs);
    this.#isSearching = false;
    if (this.#unlisted.length > 0) this.#wake();
  }
}

const runPrefix = 'run ';
export const runOf = (id: string): string => `${runPrefix}${id}`;
const isRun = (what: string) => what.startsWith(runPrefix);
const idOfRun = (what: string) => what.slice(runPrefix.length);
