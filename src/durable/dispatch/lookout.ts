/**
 * The loop of a worker: asks the store for due runs, performs them, and puts to rest those that only wait. It looks at
 * notifications of the store, after each pause, and when a place becomes free.
 */
import { agent as recorded } from '../../agent/api/api.ts';
import { AgentdumpError } from '../../errors.ts';
import { readHeading, titleOf } from '../inspect.ts';
import { workAt } from '../runs/perform-run.ts';
import { ownPause } from '../steps/own-pause.ts';
import type { RunRest, TakenRun } from '../stores/store.ts';
import { newsOf } from '../stores/store-news.ts';
import { enqueueRun } from './act-on-run.ts';
import { DueRuns, runOf } from './due-runs.ts';
import { ForeignRuns } from './foreign-runs.ts';
import { type HeldRun, putToRest } from './put-to-rest.ts';
import { findSlot, idOf, type Schedule } from './schedule.ts';
import { isClosed, Troubles } from './troubles.ts';
import type { WorkerOptions } from './worker-options.ts';

const defaultPauseMs = { found: 1_000, read: 5_000 };
const defaultMost = 4;

export class Lookout {
  readonly #options: WorkerOptions;
  readonly #most: number;
  readonly #due: DueRuns;
  readonly #inHand = new Map<string, HeldRun>();
  readonly #endings = new Set<Promise<void>>();
  readonly #troubles: Troubles;
  readonly #foreign: ForeignRuns;
  /** By the schedule's id: the run that it queued last. */
  readonly #slots = new Map<string, string>();
  /** Schedules are checked once a second, regardless of notifications. */
  #scheduledAtS = 0;
  #isStopped = false;
  /** At the last look, a rate kept a queue from starting more runs for this long. */
  #againMs: number | undefined;
  #hasNews = false;
  #pause = new AbortController();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#most = options.most ?? defaultMost;
    const say = options.options?.notify ?? ((line: string) => process.stderr.write(`agentdump: ${line}\n`));
    this.#troubles = new Troubles((line) => say(line));
    this.#foreign = new ForeignRuns(options.store);
    this.#due = new DueRuns(options, this.#troubles, () => this.#wake());
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  async run(): Promise<void> {
    const { store } = this.#options;
    const unlisten = newsOf(store).listen(undefined, () => this.#wake());
    try {
      while (!this.#isStopped) {
        this.#hasNews = false;
        await this.#tryToLook();
        await this.#wait();
      }
    } finally {
      unlisten();
    }
    while (this.#endings.size > 0) {
      this.#putToRest();
      await this.#wait();
    }
  }

  /** If the store is unavailable, the next look finds out. A closed store is never used again. */
  async #tryToLook(): Promise<void> {
    const { place } = this.#options.store;
    try {
      await this.#look();
      this.#troubles.forget(place);
    } catch (error) {
      if (isClosed(error)) this.#isStopped = true;
      else this.#troubles.note(place, error);
    }
  }

  async #look(): Promise<void> {
    await this.#queueScheduled();
    this.#putToRest();
    const free = this.#most - this.#countAtWork();
    if (free <= 0) return;
    const inHand = {
      ids: [...this.#inHand.keys()],
      waiting: this.#inHand.size - this.#countAtWork(),
      most: this.#most,
    };
    const { runs, isAll, againMs } = await this.#due.find(free, inHand);
    this.#againMs = againMs;
    // There may be more: the next look follows as soon as these have been taken.
    for (const due of runs) {
      const isWanted = !this.#isStopped && this.#countAtWork() < this.#most;
      const isFree = !this.#inHand.has(due.id) && !this.#troubles.isLeftAlone(runOf(due.id));
      if (isWanted && isFree) {
        this.#take(due);
        if (!isAll) this.#hasNews = true;
      } else await due.handle?.release();
    }
  }

  #countAtWork(): number {
    return [...this.#inHand.values()].filter(({ run }) => !run?.isOnlyWaiting).length;
  }

  /** Puts to rest the runs that have only waited since the last look. */
  #putToRest(): void {
    const { store } = this.#options;
    if (!store.findDue || !store.rest) return;
    for (const held of this.#inHand.values()) putToRest(held, this.#isStopped);
  }

  #take(due: TakenRun): void {
    const held: HeldRun = {};
    this.#inHand.set(due.id, held);
    const ending: Promise<void> = this.#perform(due, held).finally(() => {
      this.#inHand.delete(due.id);
      this.#endings.delete(ending);
      this.#wake();
    });
    this.#endings.add(ending);
  }

  async #perform(due: TakenRun, held: HeldRun): Promise<void> {
    const { programs } = this.#options;
    const { id } = due;
    try {
      if (due.error !== undefined) throw due.error;
      const name = due.name ?? (await this.#readName(id));
      const program = name === undefined ? undefined : programs[name];
      if (name === undefined || !program) return;
      const foreign = await this.#foreign.findReason(due);
      if (foreign !== undefined) {
        await due.handle?.release();
        await this.#leave(id, foreign);
        return;
      }
      const { options, store } = this.#options;
      const worked = await workAt(
        name,
        { ...options, id, store, durable: true },
        (given) => recorded.run(name, { id }, () => program(given)),
        (run, rest) => Object.assign(held, { run, rest }),
        due.handle,
      );
      if (worked.is === 'stuck') throw worked.error;
      if (worked.is === 'out of turn') await this.#readName(id);
      this.#troubles.forget(runOf(id));
      this.#foreign.forget(id);
      // The run has ended, but stays due until its parent is told.
      if ('untold' in worked) await this.#leave(id, worked.untold);
      if (worked.is === 'ended') this.#tellEnd(id, undefined);
      if (worked.is === 'failed') this.#tellEnd(id, worked.error);
    } catch (error) {
      if (isClosed(error) || (error instanceof AgentdumpError && error.code === 'held')) return;
      if (isOfOtherProgram(error)) await this.#foreign.note(id, error);
      await this.#leave(id, error);
      this.#tellEnd(id, error);
    }
  }

  /** An error that the host's callback throws is not a failure of the run. */
  #tellEnd(id: string, error: unknown): void {
    try {
      this.#options.onEnd?.(id, error);
    } catch (thrown) {
      this.#troubles.note('onEnd of the worker', thrown);
    }
  }

  /** Leaves the run alone for a while; after too many resumes, until `agentdump resume` is called for it. */
  async #leave(id: string, error: unknown): Promise<void> {
    const pauseMs = this.#troubles.note(runOf(id), error);
    // A worker with another program can continue it at once; only this one leaves it alone.
    const isForOthers = isOfOtherProgram(error);
    const isOverLimit = error instanceof AgentdumpError && error.code === 'over-limit';
    const dueAtMs = isOverLimit ? 'never' : Date.now() + pauseMs;
    const rest: RunRest = { isOver: false, ...(!isForOthers && { dueAtMs }) };
    this.#due.leave(id, { isOver: false, dueAtMs });
    const { store } = this.#options;
    try {
      if (!store.rest) return;
      await store.rest(id, rest);
      if (!isForOthers) this.#troubles.leaveToStore(runOf(id));
    } catch {
      // The store is unavailable; this is repeated when it is back.
    }
  }

  /**
   * Reads what the store does not know of the run: its name in a row of an older release, or its queue. From then on the store
   * knows them, and whether the run is over. A run of a queue is not performed now, because the store must hold its limits.
   */
  async #readName(id: string): Promise<string | undefined> {
    const { store } = this.#options;
    const { name, queue, isOver } = await readHeading(store, id);
    if (name !== undefined && !isOver && !queue && name in this.#options.programs) return name;
    const handle = await store.open(id, titleOf({ name, queue }));
    await handle.release(isOver ? { isOver } : undefined);
    return undefined;
  }

  async #queueScheduled(): Promise<void> {
    const { schedules = [] } = this.#options;
    const second = Math.floor(Date.now() / 1_000);
    if (second === this.#scheduledAtS) return;
    this.#scheduledAtS = second;
    for (const schedule of schedules) {
      const what = `schedule ${idOf(schedule)}`;
      if (this.#troubles.isLeftAlone(what)) continue;
      try {
        await this.#queueSlot(schedule);
        this.#troubles.forget(what);
      } catch (error) {
        if (isClosed(error)) throw error;
        this.#troubles.note(what, error);
      }
    }
  }

  async #queueSlot(schedule: Schedule): Promise<void> {
    const { store, options } = this.#options;
    const slot = findSlot(schedule, Date.now());
    if (slot === undefined || this.#slots.get(idOf(schedule)) === slot.id) return;
    const { input, priority, retry } = schedule;
    const keys = { key: options?.key, plain: options?.plain };
    await enqueueRun(store, schedule.name, { id: slot.id, input, priority, retry, ...keys });
    this.#slots.set(idOf(schedule), slot.id);
  }

  #wake(): void {
    this.#hasNews = true;
    this.#pause.abort();
  }

  async #wait(): Promise<void> {
    const { store, everyMs = store.findDue ? defaultPauseMs.found : defaultPauseMs.read } = this.#options;
    if (!this.#hasNews || this.#isStopped) {
      this.#pause = new AbortController();
      const pauseMs = Math.min(everyMs, this.#againMs ?? everyMs);
      await ownPause(this.#isStopped ? Math.min(everyMs, defaultPauseMs.found) : pauseMs, this.#pause.signal);
    }
    // A store that responds at once would starve the rest of the process. Also, places that become free together are then
    // refilled together.
    await turnOfTheLoop();
  }
}

const isOfOtherProgram = (error: unknown) => error instanceof AgentdumpError && error.code === 'changed';

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
