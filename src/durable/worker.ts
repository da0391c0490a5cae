/**
 * A worker of many: looks for runs of its programs that nobody holds and that have not ended, because their worker has
 * died, and goes on with them. Which of several workers gets a run, the store decides.
 */
import { AgentdumpError } from '../errors.ts';
import { durableAgent } from './api.ts';
import { summarizeRun } from './inspect.ts';
import type { DurableRunOptions, DurableRunWork } from './options.ts';
import { findInHand } from './runs/durable-run.ts';
import type { DurableStore } from './stores/store.ts';

export interface WorkerOptions {
  store: DurableStore;
  /** By the name of their runs: what goes on with one. */
  programs: Record<string, (run: DurableRunWork) => unknown>;
  /** For every run that is taken up; `id`, `store` and `durable` are set here. */
  options?: Partial<DurableRunOptions>;
  /** Pause between two looks. Default: 5,000. */
  everyMs?: number;
  /** Runs at work at one time; one that only waits for a person is not at work. Default: 4. */
  most?: number;
  /** Told of every run that ended here, well or not. */
  onEnd?: (id: string, error: unknown) => void;
}

export interface Worker {
  /** Takes no more runs; resolves when those in hand have ended. */
  stop(): Promise<void>;
}

const defaultPauseMs = 5_000;
const defaultMost = 4;
/** Runs that wait for a person, for each that may be at work: they cost memory and a lease. */
const waitingForEach = 8;

export function startWorker(options: WorkerOptions): Worker {
  const looking = new Lookout(options);
  const done = looking.run();
  return {
    stop: () => {
      looking.stop();
      return done;
    },
  };
}

class Lookout {
  readonly #options: WorkerOptions;
  readonly #atWork = new Map<string, Promise<void>>();
  /** Runs that need no second look: ended, or of programs that are not ours. */
  readonly #settled = new Set<string>();
  #isStopped = false;
  #wake = () => {};

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#look().catch(() => {
        // The store is away: the next look tells.
      });
      await this.#pause();
    }
    await Promise.all(this.#atWork.values());
  }

  async #look(): Promise<void> {
    const { store, most = defaultMost } = this.#options;
    const waiting: (() => void)[] = [];
    for (const id of await store.list()) {
      if (this.#isStopped || this.#countAtWork() >= most) return;
      if (this.#settled.has(id) || this.#atWork.has(id)) continue;
      const takeUp = await this.#judge(id);
      if (takeUp?.isUrgent) takeUp.now();
      else if (takeUp) waiting.push(takeUp.now);
    }
    // Last, so that they take no place from those that have something to do.
    for (const now of waiting) {
      const idle = this.#atWork.size - this.#countAtWork();
      if (this.#countAtWork() >= most || idle >= most * waitingForEach) return;
      now();
    }
  }

  /** What is to be done about a run: nothing, when it is held, over, or not ours. */
  async #judge(id: string): Promise<{ isUrgent: boolean; now: () => void } | undefined> {
    const { store, programs } = this.#options;
    const { name, state, holder, waitingFor, inDoubt } = await summarizeRun(store, id);
    const program = programs[name];
    if (state === 'finished' || state === 'failed' || (name !== '' && !program)) this.#settled.add(id);
    if (!program || holder !== undefined || (state !== 'interrupted' && state !== 'waiting'))
      return undefined;
    const hasWork = inDoubt.length > 0 || waitingFor.some(({ answered }) => answered);
    const isUrgent = state === 'interrupted' || hasWork;
    return { isUrgent, now: () => this.#atWork.set(id, this.#takeUp(id, name, program)) };
  }

  #countAtWork(): number {
    const { store } = this.#options;
    const isIdle = (id: string) => findInHand(store, id)?.isOnlyWaiting === true;
    return [...this.#atWork.keys()].filter((id) => !isIdle(id)).length;
  }

  async #takeUp(id: string, name: string, program: (run: DurableRunWork) => unknown): Promise<void> {
    const { store, options, onEnd } = this.#options;
    try {
      await durableAgent.run(name, { ...options, id, store, durable: true }, program);
      onEnd?.(id, undefined);
    } catch (error) {
      if (!(error instanceof AgentdumpError && error.code === 'held')) onEnd?.(id, error);
    } finally {
      this.#atWork.delete(id);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.everyMs ?? defaultPauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
