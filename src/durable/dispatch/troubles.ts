/**
 * What a worker could not do: take a run, queue a schedule, look into its store. Each is said once, and tried again after a pause
 * that grows, so that it keeps nothing else from being done.
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

  /** How long it is to be left alone. Said when it is new, or another one than before. */
  note(what: string, error: unknown): number {
    const before = this.#known.get(what);
    const said = error instanceof Error ? error.message : String(error);
    if (before?.said !== said) this.#say(`${what}: ${said}`);
    const times = (before?.times ?? 0) + 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    this.#known.set(what, { times, said, untilMs: Date.now() + pauseMs });
    return pauseMs;
  }

  /** The store knows how long: whatever makes the run due earlier there is heard. */
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

/** The store was closed by the host: nothing is to be looked for in it any more. */
export function isClosed(error: unknown): boolean {
  return error instanceof AgentdumpError && error.code === 'closed';
}
