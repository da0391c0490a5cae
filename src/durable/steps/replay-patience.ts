/**
 * How long a replay waits for the program to come to the next recorded call. It is counted in looks, each in a turn of the
 * event loop, so a process that gets no CPU time on a busy machine does not run out of patience.
 */
import { ownPausesAtWork } from './own-pause.ts';
import { ProgramWork } from './program-work.ts';

/** In milliseconds. */
export interface Patience {
  lookMs: number;
  /** Nothing in the process can wake the program any more, so it will never make the call. */
  quietMs: number;
  /** As long as that nothing may be able to wake the program before it is certain which call of several this one is. */
  holdMs: number;
  /** If something always can: as long as that, if only one such call is recorded. */
  longestHoldMs: number;
  /** A line reports what is waited for. */
  sayMs: number;
  /** Something may still wake the program, but the order is given up. */
  giveUpMs: number;
}

const defaultPatience: Patience = {
  lookMs: 50,
  quietMs: 700,
  holdMs: 100,
  longestHoldMs: 500,
  sayMs: 5_000,
  giveUpMs: 30_000,
};

export class ReplayPatience {
  readonly limits: Patience;
  #programWork: ProgramWork | undefined;
  /** What was active in the process before the program began, which can't be what will wake it. */
  #baseline = new Map<string, number>();
  #idleMs = 0;
  #quietMs = 0;
  #hasSaid = false;

  constructor(limits: Partial<Patience> = {}) {
    this.limits = { ...defaultPatience, ...limits };
  }

  /** `isOfProgram`: whether the code that is running now is the program's. */
  begin(isOfProgram: () => boolean): void {
    this.#baseline = countResources();
    this.#programWork = new ProgramWork(isOfProgram);
    this.#programWork.begin();
  }

  end(): void {
    this.#programWork?.end();
    this.#programWork = undefined;
  }

  /** The program has made the call. */
  renew(): void {
    this.#idleMs = 0;
    this.#quietMs = 0;
  }

  /** Called every `lookMs`. never: the program can't make the call any more. say: once, that it is waited for. */
  look(): 'wait' | 'say' | 'never' | 'give up' {
    const { quietMs, sayMs, giveUpMs } = this.limits;
    this.#count();
    if (this.#quietMs > quietMs) return 'never';
    if (this.#idleMs > giveUpMs) return 'give up';
    if (this.#hasSaid || this.#idleMs <= sayMs) return 'wait';
    this.#hasSaid = true;
    return 'say';
  }

  /** Like `look`, while an end is held back because another branch might still make the same call. */
  lookAtHeld(isOnly: boolean): 'wait' | 'told' | 'never' {
    const { holdMs, longestHoldMs, giveUpMs } = this.limits;
    this.#count();
    if (this.#quietMs >= holdMs || (isOnly && this.#idleMs >= longestHoldMs)) return 'told';
    return this.#idleMs > giveUpMs ? 'never' : 'wait';
  }

  #count(): void {
    const { lookMs } = this.limits;
    this.#idleMs += lookMs;
    this.#quietMs = this.#isProcessQuiet() ? this.#quietMs + lookMs : 0;
  }

  /** Only what was active before the program began, and pauses of ours. */
  #isProcessQuiet(): boolean {
    if (this.#programWork?.wasAtWork()) return false;
    const now = countResources();
    for (const [kind, count] of now) {
      const own = kind === 'Timeout' ? ownPausesAtWork() : 0;
      if (count - own > (this.#baseline.get(kind) ?? 0)) return false;
    }
    return true;
  }
}

/** What keeps the event loop alive, by kind. */
function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
