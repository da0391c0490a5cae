/**
 * Whether the index answers, for load balancers. Anybody may ask this, so an answer holds for a second: the database is
 * asked once in it, however many ask.
 */
import type { IndexDatabase } from '../index/database.ts';

const freshMs = 1_000;

/** Returns a function that throws what the index throws. */
export function healthOf(index: IndexDatabase): () => Promise<void> {
  let latest: Promise<unknown> | undefined;
  const forget = () => {
    latest = undefined;
  };
  return async () => {
    latest ??= index.query('select 1 as one').finally(() => void setTimeout(forget, freshMs).unref());
    await latest;
  };
}
