/**
 * Where a call stands, told by the async context alone: behind which call of its own context it was made. Each call moves
 * its context behind itself, so what an async function does after `await agent.step('a')` stands behind `a`, in whatever
 * order its siblings end. Steps are found again by it.
 */
import type { PositionFacts } from '../records/layout.ts';

export interface CallPosition {
  /** Label of the call that was made last in this async context; empty where none was. */
  after: string;
  /** In the same turn as that call, without an await between: a sibling of it. */
  isSync: boolean;
  /** Woken by a timer or a reply that no record tells of, so that its order among its like is a matter of time. */
  isRaw: boolean;
}

/** The one class of all calls that can be told apart only by their input, their key, or the order in which they came. */
export function classOf(word: string, { after, isSync }: CallPosition): string {
  return `${word}\n${isSync ? 'sync' : ''}\n${after}`;
}

/** As a record has it. */
export function positionFacts({ after, isSync, isRaw }: CallPosition): PositionFacts {
  if (isSync) return { after, sync: true };
  return isRaw ? { after, raw: true } : { after };
}

export function positionOf({ after, sync, raw }: PositionFacts): CallPosition | undefined {
  if (after === undefined) return undefined;
  return { after, isSync: sync === true, isRaw: raw === true };
}
