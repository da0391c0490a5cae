/** The index in PostgreSQL, through `pg`, which is loaded only here. */
import type { PoolClient } from 'pg';
import { persist } from '../../durable/stores/persist.ts';
import { hearErrors, importPg, placeOf } from '../../durable/stores/postgres/client.ts';
import type { IndexDatabase, Query } from './database.ts';
import { makeTables } from './tables.ts';

/** How long to wait for a broken connection or a restarting database. */
const patienceMs = 10_000;

/** Throws `usage` without `pg`, `unwritable` if the database is not available. */
export async function openPostgres(url: string): Promise<IndexDatabase> {
  const { Pool } = (await importPg()).default;
  const pool = new Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
  });
  hearErrors(pool);
  const patience = { ms: patienceMs, place: placeOf(url) };
  const database: IndexDatabase = {
    place: patience.place,
    query: (text, values) => persist(patience, async () => (await pool.query(text, values)).rows),
    transaction: (work) => persist(patience, () => inTransaction(pool, work)),
    close: () => pool.end(),
  };
  try {
    await database.transaction(makeTables);
    return database;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function inTransaction<Result>(
  pool: { connect(): Promise<PoolClient> },
  work: (query: Query) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isDone = false;
  try {
    await client.query('begin');
    const result = await work(async (text, values) => (await client.query(text, values)).rows);
    await client.query('commit');
    isDone = true;
    return result;
  } finally {
    client.release(!isDone);
  }
}
