/** Queues with limits, and child runs, in PostgreSQL. */
import { after, before } from 'node:test';
import { PostgresStore } from '../../../src/durable/stores/postgres-store.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../support/system/postgres.ts';
import { testChildren } from './child-cases.ts';
import { testQueues } from './queue-cases.ts';
import type { QueuesUnderTest } from './stores-under-test.ts';

const skip = whyNoPostgres();
let server: PostgresServer;
before(async () => {
  if (!skip) server = await startPostgres();
});
after(() => server?.remove());

const postgres: QueuesUnderTest = {
  name: 'PostgreSQL',
  skip,
  open: async () => {
    const store = await PostgresStore.connect(server.url);
    await store.pool.query('truncate agentdump_runs, agentdump_records, agentdump_answers, agentdump_starts');
    return store;
  },
  reopen: () => PostgresStore.connect(server.url),
};
testQueues(postgres);
testChildren(postgres);
