/**
 * Checks that the main thread returns to its event loop, as far as the kernel shows that without stopping it. A thread that
 * is never seen waiting for events spins, is in native code, or is very busy; triage.ts finds out which. `execSync` waits for
 * events too, but in a loop of its own, which differs from the program's loop once that has been seen.
 */
import type { Complaint, HealthCheck } from './limits.ts';
import { type HomeLoop, isInEventLoop, readMainThread } from './program.ts';

export class MainThreadCheck implements HealthCheck {
  readonly everyMs: number;
  readonly #program: () => number;
  readonly #home: HomeLoop;
  readonly #hangMs: number;
  readonly #graceUntil: number;
  #hasTurned = false;
  #lastTurn = performance.now();

  constructor(program: () => number, home: HomeLoop, hangMs: number, graceMs: number) {
    this.#program = program;
    this.#home = home;
    this.#hangMs = hangMs;
    this.#graceUntil = performance.now() + graceMs;
    this.everyMs = Math.min(250, Math.max(10, hangMs / 20));
  }

  look(): Complaint | undefined {
    const now = performance.now();
    const thread = readMainThread(this.#program());
    this.#home.learn(thread);
    if (thread === undefined || isInEventLoop(thread, this.#home.descriptor)) {
      this.#hasTurned ||= thread !== undefined;
      this.#lastTurn = now;
      return undefined;
    }
    const awayMs = now - this.#lastTurn;
    if (awayMs < this.#hangMs || (!this.#hasTurned && now < this.#graceUntil)) return undefined;
    // The triage may find that it is busy but healthy, so counting starts again.
    this.#lastTurn = now;
    const what = `the event loop has not turned for ${Math.round(awayMs)} ms`;
    return { level: 'process', check: 'main-thread', what };
  }

  forgive(): void {
    this.#lastTurn = performance.now();
  }
}
