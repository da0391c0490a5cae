/**
 * How long a replay waits for the program to come to the next recorded call. It is counted in looks, each in a turn of the
 * event loop, so a process that gets no CPU time on a busy machine does not run out of patience.
 */
import { Server, Socket } from 'node:net';
import { ownPausesAtWork } from './own-pause.ts';
import { ProgramWork } from './program-work.ts';

/** In milliseconds. */
export interface Patience {
  lookMs: number;
  /** Nothing in the process can wake the program any more, so it will never make the call. */
  quietMs: number;
  /** As long as that the program may have nothing at work before it is certain which call of several this one is. */
  holdMs: number;
  /** If it always has: as long as that, if only one such call is recorded; otherwise `giveUpMs`. */
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
  #baselineAtWork = new Map<string, number>();
  #idleMs = 0;
  #quietMs = 0;
  #hasSaid = false;

  constructor(limits: Partial<Patience> = {}) {
    this.limits = { ...defaultPatience, ...limits };
  }

  /** `isOfProgram`: whether the code that is running now is the program's. */
  begin(isOfProgram: () => boolean): void {
    this.#baseline = countResources();
    this.#baselineAtWork = countWithoutServed();
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
    this.#count(countResources(), this.#baseline);
    return this.#verdict();
  }

  /** Like `look`, while calls wait that may be the recorded one. told: no other such call can come. */
  lookAtUnknown(recognise: () => boolean): 'told' | 'wait' | 'say' | 'never' | 'give up' {
    const isOver = this.lookAtHeld(false) !== 'wait';
    return isOver && recognise() ? 'told' : this.#verdict();
  }

  #verdict(): 'wait' | 'say' | 'never' | 'give up' {
    const { quietMs, sayMs, giveUpMs } = this.limits;
    if (this.#quietMs > quietMs) return 'never';
    if (this.#idleMs > giveUpMs) return 'give up';
    if (this.#hasSaid || this.#idleMs <= sayMs) return 'wait';
    this.#hasSaid = true;
    return 'say';
  }

  /**
   * Like `look`, while an end is held back because another branch might still make the same call. Connections to servers of the
   * process are no work of the program: they may stay open as long as the process lives. quiet: nothing is at work. told: something
   * always is, and it was waited for long enough.
   */
  lookAtHeld(isOnly: boolean): 'wait' | 'told' | 'quiet' {
    const { holdMs, longestHoldMs, giveUpMs } = this.limits;
    this.#count(countWithoutServed(), this.#baselineAtWork);
    const isLongEnough = this.#idleMs >= (isOnly ? longestHoldMs : giveUpMs);
    if (this.#quietMs >= holdMs) return 'quiet';
    return isLongEnough ? 'told' : 'wait';
  }

  #count(now: Map<string, number>, baseline: Map<string, number>): void {
    const { lookMs } = this.limits;
    this.#idleMs += lookMs;
    this.#quietMs = this.#isQuiet(now, baseline) ? this.#quietMs + lookMs : 0;
  }

  /** Only what was active before the program began, and pauses of ours. */
  #isQuiet(now: Map<string, number>, baseline: Map<string, number>): boolean {
    if (this.#programWork?.wasAtWork()) return false;
    for (const [kind, count] of now) {
      const own = kind === 'Timeout' ? ownPausesAtWork() : 0;
      if (count - own > (baseline.get(kind) ?? 0)) return false;
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

/** As in `getActiveResourcesInfo`, by the class of the handle. */
const kindsOfServed: Record<string, { server: string; connection: string }> = {
  TCP: { server: 'TCPServerWrap', connection: 'TCPSocketWrap' },
  Pipe: { server: 'PipeWrap', connection: 'PipeWrap' },
};

type Served = { server?: unknown; _handle?: object | null };

/** Without servers that listen, and the connections that they have accepted. */
function countWithoutServed(): Map<string, number> {
  const counts = countResources();
  const { _getActiveHandles: activeHandles } = process as { _getActiveHandles?(): unknown[] };
  for (const handle of activeHandles?.call(process) ?? []) {
    const { server, _handle } = handle as Served;
    const isServer = handle instanceof Server;
    if (!isServer && !(handle instanceof Socket && server)) continue;
    const kind = kindsOfServed[_handle?.constructor.name ?? '']?.[isServer ? 'server' : 'connection'];
    const count = kind === undefined ? undefined : counts.get(kind);
    if (kind !== undefined && count) counts.set(kind, count - 1);
  }
  return counts;
}
