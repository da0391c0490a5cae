/**
 * Which work ended with which error, tracked by the identity of the error object, so that at a death the failed work is known
 * and not guessed from equal messages. Holds errors weakly.
 */
import type { AgentEventsPart, EventError } from '../../journal/layout/agent.ts';

/**
 * The thrown value, as a non-enumerable property of an event's error. Shared by the host's copy of this package and the
 * preload.
 */
const thrownKey: unique symbol = Symbol.for('agentdump.thrown') as never;
/** An error that passes through more work than this is recorded for the innermost only. */
const mostOwners = 16;

export function carryThrown(error: EventError, thrown: unknown): EventError {
  return Object.defineProperty(error, thrownKey, { value: thrown });
}

/** The value behind an event's error; undefined if it was not carried. */
export const thrownOf = (error: EventError): unknown => (error as { [thrownKey]?: unknown })[thrownKey];

export class FailedWork {
  readonly #owners = new WeakMap<object, string[]>();

  /** Notes that the work `id` ended with this error. */
  note(id: string | undefined, error: EventError): void {
    const thrown = thrownOf(error);
    if (id === undefined || !isObject(thrown)) return;
    const owners = this.#owners.get(thrown);
    if (!owners) this.#owners.set(thrown, [id]);
    else if (owners.length < mostOwners) owners.push(id);
  }

  /**
   * The work that ended with these errors. `chain` is the thrown value, then its causes; for each, the innermost work is
   * first.
   */
  findOwners(chain: readonly unknown[]): NonNullable<AgentEventsPart['failed']> {
    return chain.flatMap((thrown, depth) =>
      (isObject(thrown) ? (this.#owners.get(thrown) ?? []) : []).map((id) => ({
        id,
        as: depth === 0 ? ('error' as const) : ('cause' as const),
      })),
    );
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
