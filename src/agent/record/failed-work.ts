/**
 * Which work ended with which error: by the error object itself, so that at a death it is known, not presumed from equal
 * words, whose failure the process dies of. Holds no error alive.
 */
import type { AgentEventsPart, EventError } from '../../journal/layout/agent.ts';

/** Of an event's error: what was thrown. Seen by no enumeration; the host's copy of this package and the preload share it. */
const thrownKey: unique symbol = Symbol.for('agentdump.thrown') as never;
/** Errors that pass through more work than this are the same in the innermost. */
const mostOwners = 16;

export function carryThrown(error: EventError, thrown: unknown): EventError {
  return Object.defineProperty(error, thrownKey, { value: thrown });
}

export class FailedWork {
  readonly #owners = new WeakMap<object, string[]>();

  /** Work `id` ended with this. */
  note(id: string | undefined, error: EventError): void {
    const thrown = (error as { [thrownKey]?: unknown })[thrownKey];
    if (id === undefined || !isObject(thrown)) return;
    const owners = this.#owners.get(thrown);
    if (!owners) this.#owners.set(thrown, [id]);
    else if (owners.length < mostOwners) owners.push(id);
  }

  /** Of a thrown value and what caused it, in this order; the innermost work first. */
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
