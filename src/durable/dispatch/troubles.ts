/**
 * Operations that a worker failed to do: take a run, queue a schedule, query its store. Each is reported once and retried
 * after a growing pause, without blocking the rest of its work.
 */
import { AgentdumpError } from '../../errors.ts';

const firstPauseMs = 2_000;
const longestPauseMs = 300_000;

interface Trouble {
  times: number;
  untilMs: number;
  said: string;
}

export class Troubles {
  readonly #say: (line: string) => void;
  readonly #known = new Map<string, Trouble>();

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Returns how long to leave it alone. Reported if it is new, or if the error differs from the previous one. */
  note(what: string, error: unknown): number {
    const before = this.#known.get(what);
    const said = error instanceof Error ? error.message : String(error);
    if (before?.said !== said) this.#say(`${what}: ${said}`);
    const times = (before?.times ?? 0) + 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#known.set(what, { times, said, untilMs: Date.now() + pauseMs });
    return pauseMs;
  }

  /** The store knows the pause, so events that make the run due earlier take effect. */
  leaveToStore(what: string): void {
    const trouble = this.#known.get(what);
    if (trouble) trouble.untilMs = 0;
  }

  forget(what: string): void {
    this.#known.delete(what);
  }

  isLeftAlone(what: string): boolean {
    return (this.#known.get(what)?.untilMs ?? 0) > Date.now();
  }

  get leftAlone(): string[] {
    return [...this.#known.keys()].filter((what) => this.isLeftAlone(what));
  }
}

/** The host has closed the store: nothing more can be read from it. */
export function isClosed(error: unknown): boolean {
  return error instanceof AgentdumpError && error.code === 'closed';
}
