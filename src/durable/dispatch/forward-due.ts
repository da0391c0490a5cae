/**
 * Passes due runs on to a job queue of the host, which performs each by `performDueRun`. The store alone decides what is due;
 * a job only says that somebody should look at the run. So a job that is lost or comes twice does no harm: a run that no job
 * has taken is passed on again, and one that is taken is refused to the next job.
 */
import { ownPause } from '../steps/own-pause.ts';
import type { DueRun } from '../stores/store.ts';
import { newsOf } from '../stores/store-news.ts';
import type { ForwardOptions } from './forward-options.ts';
import { isClosed, Troubles } from './troubles.ts';

const defaults = { everyMs: 1_000, againMs: 60_000 };
const mostInOneLook = 100;

export class Forwarder {
  readonly #options: ForwardOptions;
  readonly #troubles: Troubles;
  #isStopped = false;
  #hasNews = false;
  #pause = new AbortController();

  constructor(options: ForwardOptions) {
    this.#options = options;
    this.#troubles = new Troubles(options.notify ?? ((line) => process.stderr.write(`agentdump: ${line}\n`)));
  }

  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  async run(): Promise<void> {
    const { store, everyMs = defaults.everyMs } = this.#options;
    const unlisten = newsOf(store).listen(undefined, () => this.#wake());
    try {
      while (!this.#isStopped) {
        this.#hasNews = false;
        const isAll = await this.#tryToForward();
        this.#pause = new AbortController();
        if (isAll && !this.#hasNews && !this.#isStopped) await ownPause(everyMs, this.#pause.signal);
      }
    } finally {
      unlisten();
    }
  }

  /** False if there may be more. If the store is unavailable, the next look finds out. */
  async #tryToForward(): Promise<boolean> {
    const { store, names, againMs = defaults.againMs } = this.#options;
    try {
      const due = (await store.findDue?.(names, mostInOneLook, againMs)) ?? [];
      this.#troubles.forget(store.place);
      let isWell = true;
      for (const run of due) isWell = (await this.#add(run)) && isWell;
      return due.length < mostInOneLook || !isWell;
    } catch (error) {
      if (isClosed(error)) this.#isStopped = true;
      else this.#troubles.note(store.place, error);
      return true;
    }
  }

  async #add(run: DueRun): Promise<boolean> {
    const { store, add, everyMs = defaults.everyMs } = this.#options;
    try {
      await add(run);
      this.#troubles.forget('a job');
      return true;
    } catch (error) {
      this.#troubles.note('a job', error);
      await store.rest?.(run.id, { isOver: false, dueAtMs: Date.now() + everyMs });
      return false;
    }
  }

  #wake(): void {
    this.#hasNews = true;
    this.#pause.abort();
  }
}
