/**
 * The position of a call, determined only by the async context: after which call of its own context it was made. Each call
 * moves its context behind itself, so what an async function does after `await agent.step('a')` is positioned after `a`, in
 * whatever order its siblings end. Steps are matched with their records by it.
 */
import type { PositionFacts } from '../records/layout.ts';

export interface CallPosition {
  /** Label of the last call in this async context; empty if there was none. */
  after: string;
  /** In the same turn as that call, without an await between: a sibling of it. */
  isSync: boolean;
  /** Woken by a timer or a reply that is not recorded, so its order among similar calls depends on timing. */
  isRaw: boolean;
}

/** Calls of one class can only be distinguished by their input, their key, or their order. */
export function classOf(word: string, { after, isSync }: CallPosition): string {
  return `${word}\n${isSync ? 'sync' : ''}\n${after}`;
}

/** As it is recorded. */
export function positionFacts({ after, isSync, isRaw }: CallPosition): PositionFacts {
  if (isSync) return { after, sync: true };
  return isRaw ? { after, raw: true } : { after };
}

export function positionOf({ after, sync, raw }: PositionFacts): CallPosition | undefined {
  if (after === undefined) return undefined;
  return { after, isSync: sync === true, isRaw: raw === true };
}
