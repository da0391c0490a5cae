/**
 * Whether the main thread has come back to its event loop, as far as the kernel shows that without stopping it: a
 * thread that is never met waiting for events spins, sits in native code, or is very busy. Which of these, the triage
 * `execSync` waits for events too, but in a loop of its own, told
 * from the program's once that was met.
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
    // Busy and well, says the triage perhaps: then a new count begins.
    this.#lastTurn = now;
    const what = `the event loop has not turned for ${Math.round(awayMs)} ms`;
    return { level: 'process', check: 'main-thread', what };
  }

  forgive(): void {
    this.#lastTurn = performance.now();
  }
}
