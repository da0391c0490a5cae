/**
 * One try of a step under its limits: ends when its time is over or it is called off, even if the host's function continues
 * in the background. Independent of records.
 */

import { longestTimerMs, ownPause } from './own-pause.ts';

/**
 * The sources that may call the step off. `lost` aborts when nothing more of its run can be recorded, or the run was
 * cancelled; a function that ignores its signal runs to its end.
 */
export interface CalledOffBy {
  host: readonly (AbortSignal | undefined)[];
  lost: AbortSignal;
}

/** Signals of one try, created on demand because most steps have no limit. */
export class StepLimits {
  readonly #timeoutMs: number | undefined;
  readonly #host: AbortSignal[];
  readonly #lost: AbortSignal;
  #follower: AbortFollower | undefined;
  #isOver = false;
  #isTimedOut = false;

  constructor({ host, lost }: CalledOffBy, timeoutMs?: number) {
    // Longer than any process lives, so there is no limit.
    this.#timeoutMs = timeoutMs !== undefined && timeoutMs > longestTimerMs ? undefined : timeoutMs;
    this.#host = host.filter((signal) => signal !== undefined);
    this.#lost = lost;
  }

  get isLimited(): boolean {
    return this.#timeoutMs !== undefined || this.#host.length > 0;
  }

  /** Its time is over, whether or not its function has ended. */
  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  /** It was called off from outside; a timeout does not count. */
  get isCalledOff(): boolean {
    return this.#lost.aborted || this.#host.some(({ aborted }) => aborted);
  }

  get signal(): AbortSignal {
    this.#follower ??= new AbortFollower(this.#isOver ? [] : [...this.#host, this.#lost]);
    return this.#follower.signal;
  }

  /** Throws the reason if it is called off already. */
  requireWanted(): void {
    for (const signal of this.#host) signal.throwIfAborted();
    this.#lost.throwIfAborted();
  }

  /** Settles like `work`, or rejects with the reason for which its signal was aborted. Once per object. */
  async hold<Result>(work: () => Result): Promise<Awaited<Result>> {
    this.requireWanted();
    const { signal } = this;
    const timer =
      this.#timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            this.#isTimedOut = true;
            this.#follower?.abort(timeoutError(this.#timeoutMs));
          }, this.#timeoutMs);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => {});
    try {
      const result = work();
      // A function that is given up may still reject later, when nothing awaits it.
      if (result instanceof Promise) result.catch(() => {});
      return await Promise.race([result, aborted]);
    } finally {
      clearTimeout(timer);
      this.end();
    }
  }

  /** The try is over: its signal no longer changes. */
  end(): void {
    this.#isOver = true;
    this.#follower?.end();
  }
}

/**
 * A signal that aborts when one of the sources does, until it is ended. `AbortSignal.any` can't be ended: each one with a
 * listener is kept for as long as its sources live (1.2 KB, Node 20 to 26), and a source may live as long as a worker.
 */
export class AbortFollower {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #follow = ({ target }: Event) => this.abort((target as AbortSignal).reason);

  constructor(sources: readonly AbortSignal[]) {
    this.#sources = sources;
    for (const source of sources)
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.#follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  end(): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
  }
}

function timeoutError(afterMs: number | undefined): Error {
  return new DOMException(`The step took longer than ${afterMs} ms`, 'TimeoutError');
}

/** Resolves after the pause; rejects with the reason of the first signal that aborts. */
export function pause(ms: number, calledOffBy: CalledOffBy): Promise<void> {
  const limits = new StepLimits(calledOffBy);
  // Its timer must not keep a process alive that has nothing left to wait for.
  return limits.hold(() => ownPause(ms, limits.signal));
}
