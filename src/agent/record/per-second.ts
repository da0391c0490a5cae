/**
 * At most so many a second, of the time that the program has: that in which it waits for events, and that in which it has a processor. On a
 * busy machine a second of the clock is a fraction of one for the program, of which so many would be a larger share. Of a flood, of which it
 * is only a sample, a smaller one is taken.
 */

import { perfHooks } from '../node-modules.ts';

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
const { now } = Date;
const { cpuUsage } = process;

export class PerSecond {
  readonly #most: number;
  readonly #read: () => ProgramTime;
  readonly #now: () => number;
  #second = 0;
  #asked = 0;
  #left = 0;
  #before: ProgramTime | undefined;

  constructor(most: number, read = readTime, clock = now) {
    this.#most = most;
    this.#read = read;
    this.#now = clock;
  }

  /** Whether this call is the first in its second. */
  begins(): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (this.#second === second) return false;
    const isFlood = second === this.#second + 1 && this.#asked > floodTimes * this.#most;
    this.#second = second;
    this.#asked = 0;
    const most = isFlood && this.#read !== ofClock ? this.#most * shareOfFlood : this.#most;
    this.#left = Math.ceil(most * this.#share());
    return true;
  }

  /** After `begins`. */
  take(): boolean {
    this.#asked++;
    return this.#left-- > 0;
  }

  /** Of the time since the second before, which was the program's; 1 if that is not known. */
  #share(): number {
    const before = this.#before;
    const time = this.#read();
    this.#before = time;
    if (!before || time.clock <= before.clock) return 1;
    const share = (time.had - before.had) / (time.clock - before.clock);
    return share > leastShare ? Math.min(1, share) : leastShare;
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
