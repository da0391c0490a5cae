/**
 * Detects that the agent makes no progress: there was no sign of it within the time that the host declared, or the same few
 * calls with the same results repeat. Does not know what is written in that case. Each report multiplies the deadline by
 * four. Until progress is expected, the only cost is a map update per event.
 */
import { guarded } from '../taps/guard.ts';
import { type EventFacts, type Repeated, RepeatedTail } from './repeated-tail.ts';

/** `any`: any event. `steps`: a run or step that ends, or agent.progress. `progress`: agent.progress only. */
export type ProgressSigns = 'any' | 'steps' | 'progress';

export interface ProgressOptions {
  /** What counts as a sign of progress. Default: `any`. */
  signs?: ProgressSigns;
  /**
   * After this many repetitions of the same calls with the same results, there is no progress, whatever `signs` says.
   * Default: 25; 0 disables the check.
   */
  repeats?: number;
}

/** What was detected. Times are in milliseconds. */
export interface Stall {
  silentMs: number;
  /** The time that was allowed. */
  deadlineMs: number;
  signs: ProgressSigns;
  /** Kind of the last event that was a sign; absent if there was none. */
  lastSign?: string;
  /** The calls and results that repeat; in this case the deadline had not passed. */
  repeated?: Repeated;
  /** 1 for the first report. */
  count: number;
}

const longestTimerMs = 2 ** 31 - 1;
/** After the loop was blocked, events that have arrived meanwhile are processed first. */
const graceMs = 1000;
const patience = 4;
const defaultRepeats = 25;
const signKinds: Record<ProgressSigns, RegExp> = {
  any: /^(?:run|step|tool|model)\.|^(?:progress|plan|state|message|note|wait\.end|lock\.held)$/,
  steps: /^(?:run\.(?:start|end)|step\.end|progress)$/,
  progress: /^progress$/,
};
const openedOrClosed = /^(?:run|step|tool|model|wait)\.(?:start|end)$/;
const mostOpen = 5000;

const { setTimeout, clearTimeout } = globalThis;
const now = () => performance.now();

export class ProgressWatch {
  readonly #onStall: (stall: Stall) => void;
  readonly #open = new Set<string>();
  readonly #tail = new RepeatedTail();
  #signs: ProgressSigns = 'any';
  #repeats = defaultRepeats;
  #deadlineMs = 0;
  #isForWorkOnly = false;
  #lastSign: string | undefined;
  #lastSignAt = 0;
  #count = 0;
  #dueAt = 0;
  #isGraceOver = false;
  #timer: NodeJS.Timeout | undefined;
  /** Identifies the newest call of `expect`. */
  #expectation: object | undefined;

  constructor(onStall: (stall: Stall) => void) {
    this.#onStall = onStall;
  }

  /**
   * From now on a sign is expected within `ms`; 0 expects none. `forWorkOnly`: only while a run, step, call or wait is open.
   * Returns a function that cancels the expectation, which does nothing after a later call of `expect`.
   */
  expect(ms: number, options: ProgressOptions = {}, forWorkOnly = false): () => void {
    this.stop();
    if (!(ms > 0)) return () => undefined;
    this.#signs = options.signs !== undefined && options.signs in signKinds ? options.signs : 'any';
    this.#repeats = options.repeats ?? defaultRepeats;
    this.#isForWorkOnly = forWorkOnly;
    this.#deadlineMs = ms;
    this.#count = 0;
    this.#lastSignAt = now();
    this.#arm(ms);
    const expectation = {};
    this.#expectation = expectation;
    return () => {
      if (this.#expectation === expectation) this.stop();
    };
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#deadlineMs = 0;
  }

  /** Receives every recorded event. `content` is the host's data as it was recorded. */
  see(kind: string, facts: EventFacts, content: EventFacts | undefined): void {
    if (openedOrClosed.test(kind)) this.#follow(kind, facts);
    if (this.#deadlineMs === 0) return;
    if (signKinds[this.#signs].test(kind)) {
      this.#lastSign = kind;
      this.#lastSignAt = now();
    }
    if (this.#repeats > 0 && this.#tail.add(kind, facts, content)) this.#checkRepeats();
  }

  #follow(kind: string, facts: EventFacts): void {
    const id = String(facts['id'] ?? facts['call'] ?? facts['wait'] ?? facts['run']);
    if (kind.endsWith('.end')) this.#open.delete(id);
    else if (this.#open.size < mostOpen) this.#open.add(id);
  }

  #arm(ms: number): void {
    const waitMs = Math.min(Math.max(1, ms), longestTimerMs);
    this.#dueAt = now() + waitMs;
    this.#timer = setTimeout(
      guarded(() => this.#check()),
      waitMs,
    );
    this.#timer.unref();
  }

  #check(): void {
    if (now() - this.#dueAt > graceMs && !this.#isGraceOver) {
      this.#isGraceOver = true;
      this.#arm(graceMs);
      return;
    }
    this.#isGraceOver = false;
    const silentMs = now() - this.#lastSignAt;
    if (silentMs < this.#deadlineMs) this.#arm(this.#deadlineMs - silentMs);
    else if (this.#isForWorkOnly && this.#open.size === 0) this.#arm(this.#deadlineMs);
    else this.#report({ silentMs });
  }

  /** The report is deferred to the next turn of the loop, because this runs inside of a call of the host. */
  #checkRepeats(): void {
    const repeated = this.#tail.find(this.#repeats);
    if (!repeated) return;
    this.#repeats *= patience;
    const report = guarded(() => {
      if (this.#deadlineMs > 0) this.#report({ silentMs: now() - this.#lastSignAt, repeated });
    });
    setTimeout(report, 0).unref();
  }

  #report(found: Pick<Stall, 'silentMs' | 'repeated'>): void {
    const stall: Stall = {
      ...found,
      silentMs: Math.round(found.silentMs),
      deadlineMs: Math.round(this.#deadlineMs),
      signs: this.#signs,
      count: ++this.#count,
    };
    if (this.#lastSign !== undefined) stall.lastSign = this.#lastSign;
    this.#deadlineMs *= patience;
    clearTimeout(this.#timer);
    // A stall that was detected late has already used up part of the new deadline. The minimum prevents an immediate second
    // report.
    this.#arm(Math.max(this.#deadlineMs - found.silentMs, this.#deadlineMs / patience));
    this.#onStall(stall);
  }
}
