/**
 * Whether, and after what pause, a program that ended is started again. Pure: time comes in as a number. Pauses double
 * from one restart to the next and begin anew after a life that was long enough; too many restarts in a window are a
 * crash loop, and the end (the restart intensity of Erlang/OTP's supervisors).
 */
export type RestartWish = 'never' | 'on-failure' | 'always';

export interface RestartLimits {
  wish: RestartWish;
  /** First pause in milliseconds; each further one is twice as long, up to `longestPauseMs`. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** More than so many restarts … */
  most: number;
  /** … within so many milliseconds are a crash loop. */
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
  /** When the program was started again, within the window; milliseconds of any steady clock. */
  #restarts: number[] = [];
  #nextPauseMs: number;

  constructor(limits: RestartLimits) {
    this.#limits = limits;
    this.#nextPauseMs = limits.firstPauseMs;
  }

  /** `wasIll`: the supervisor ended it, which makes a failure of any exit. */
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
