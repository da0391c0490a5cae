/**
 * Decides whether a program that ended is restarted, and after which delay. Pure: times are passed in. Delays double from one
 * restart to the next, and are reset after a life that was long enough. Too many restarts within a window are a crash loop,
 * which ends the run (like the restart intensity of Erlang/OTP supervisors).
 */
export type RestartWish = 'never' | 'on-failure' | 'always';

export interface RestartLimits {
  wish: RestartWish;
  /** First delay in milliseconds; each further one is twice as long, up to `longestPauseMs`. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** More restarts than this … */
  most: number;
  /** … within this many milliseconds are a crash loop. */
  windowMs: number;
}

export const defaultLimits: RestartLimits = {
  wish: 'never',
  firstPauseMs: 200,
  longestPauseMs: 30_000,
  most: 5,
  windowMs: 60_000,
};

export type RestartDecision =
  | { kind: 'stop' }
  | { kind: 'restart'; delayMs: number }
  | { kind: 'crash-loop'; restarts: number };

export interface ChildExit {
  code?: number;
  signal?: string;
}

export class RestartPolicy {
  readonly #limits: RestartLimits;
  /** Times of the restarts within the window, in milliseconds of any monotonic clock. */
  #restarts: number[] = [];
  #nextPauseMs: number;

  constructor(limits: RestartLimits) {
    this.#limits = limits;
    this.#nextPauseMs = limits.firstPauseMs;
  }

  /** `wasIll`: the supervisor ended the program, which makes any exit a failure. */
  decide(exit: ChildExit, ranMs: number, nowMs: number, wasIll = false): RestartDecision {
    const { wish, most, windowMs, firstPauseMs, longestPauseMs } = this.#limits;
    const failed = wasIll || exit.signal !== undefined || exit.code !== 0;
    if (wish === 'never' || (wish === 'on-failure' && !failed)) return { kind: 'stop' };
    this.#restarts = this.#restarts.filter((at) => nowMs - at < windowMs);
    if (this.#restarts.length >= most) return { kind: 'crash-loop', restarts: this.#restarts.length };
    if (ranMs >= windowMs) this.#nextPauseMs = firstPauseMs;
    const delayMs = this.#nextPauseMs;
    this.#nextPauseMs = Math.min(delayMs * 2, longestPauseMs);
    this.#restarts.push(nowMs);
    return { kind: 'restart', delayMs };
  }
}
