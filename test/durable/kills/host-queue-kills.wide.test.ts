/**
 * Processes that perform runs in the jobs of graphile-worker and of pg-boss are killed at random instants. AGENTDUMP_KILLS sets
 * how many kills.
 */
import { test } from 'node:test';
import { hasPeer } from '../../bench/peers/durable-engines.ts';
import { whyNoPostgres } from '../../support/system/postgres.ts';
import { killOnPostgres } from './kill-around.ts';

for (const queue of ['graphile-worker', 'pg-boss'] as const) {
  const skip =
    whyNoPostgres() ?? (hasPeer(queue) ? undefined : `no ${queue} here: npm ci --prefix test/durable-peers`);
  test(`in jobs of ${queue}: nothing is lost, stuck, or done twice unnamed`, { skip: skip ?? false }, () =>
    killOnPostgres(queue),
  );
}
