/**
 * At most so many a second, of the time that the program has: that in which it waits for events, and that in which it has a processor. On a
 * busy machine a second of the clock is a fraction of one for the program, of which so many would be a larger share. Of a flood, of which it
 * is only a sample, a smaller one is taken. A second begins with the first that comes after the one before, and a timer ends it: to read the
 * clock for each of many thousands would take longer than all that is done for those that are left out.
 */

import { perfHooks } from '../node-modules.ts';
import { startOwnTimer } from '../taps/own-timer.ts';

/** Milliseconds since any moment: of the clock, and of those the program's. */
export interface ProgramTime {
  clock: number;
  had: number;
}

/** A starved program still has so many of what it may have. */
const leastShare = 0.2;
/** Where so many times as many come as may be taken, a fifth of these tells as much. */
const floodTimes = 10;
const shareOfFlood = 0.2;
const secondMs = 1000;
/** If the second before ended longer ago, a flood in it is over. */
const longestPauseMs = 3000;
const { now } = Date;
const { cpuUsage } = process;

export class PerSecond {
  readonly #most: number;
  readonly #read: () => ProgramTime;
  readonly #startTimer: (run: () => void, ms: number) => void;
  #isRunning = false;
  #asked = 0;
  #left = 0;
  #before: ProgramTime | undefined;

  constructor(
    most: number,
    read = readTime,
    startTimer: (run: () => void, ms: number) => void = startOwnTimer,
  ) {
    this.#most = most;
    this.#read = read;
    this.#startTimer = startTimer;
  }

  /** Whether this call is the first in its second. */
  begins(): boolean {
    if (this.#isRunning) return false;
    this.#isRunning = true;
    this.#left = Math.ceil(this.#most * this.#share());
    this.#asked = 0;
    this.#startTimer(() => {
      this.#isRunning = false;
    }, secondMs);
    return true;
  }

  /** After `begins`. */
  take(): boolean {
    this.#asked++;
    return this.#left-- > 0;
  }

  /** Of the time since the second before, which was the program's; 1 if that is not known. Less in a flood. */
  #share(): number {
    const before = this.#before;
    const time = this.#read();
    this.#before = time;
    if (!before || time.clock <= before.clock) return 1;
    const tookMs = time.clock - before.clock;
    const share = Math.min(1, Math.max(leastShare, (time.had - before.had) / tookMs));
    const isFlood = this.#asked > floodTimes * this.#most && tookMs < longestPauseMs;
    return isFlood ? share * shareOfFlood : share;
  }
}

/** All of the clock's time is the program's, and of a flood all that may be taken is. */
export const ofClock = (): ProgramTime => ({ clock: 0, had: 0 });

function readTime(): ProgramTime {
  try {
    const { user, system } = cpuUsage();
    // The preload's own `performance` has no more than its clock.
    const { idle } = perfHooks().performance.eventLoopUtilization();
    return { clock: now(), had: idle + (user + system) / 1000 };
  } catch {
    // The program has replaced it.
    return ofClock();
  }
}
