/** The index in PostgreSQL, through `pg`, which is loaded only here. */
import type { PoolClient } from 'pg';
import { persist } from '../../durable/stores/persist.ts';
import { hearErrors, importPg, placeOf } from '../../durable/stores/postgres/client.ts';
import type { IndexDatabase, Query } from './database.ts';
import { makeTables } from './tables.ts';

/** The limit of a statement, and of one that counts the deaths of an older index again. */
const queryMs = 60_000;
const recountMs = 30 * 60_000;
/** How long to wait for a broken connection or a restarting database. */
const patienceMs = 10_000;

/** Throws `usage` without `pg`, `unwritable` if the database is not available. */
export async function openPostgres(url: string): Promise<IndexDatabase> {
  const { Pool } = (await importPg()).default;
  const pool = new Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: 5_000,
    query_timeout: queryMs,
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
    await persist(patience, () => inTransaction(pool, makeTables, recountMs));
    return database;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function inTransaction<Result>(
  pool: { connect(): Promise<PoolClient> },
  work: (query: Query) => Promise<Result>,
  timeoutMs = queryMs,
): Promise<Result> {
  const client = await pool.connect();
  let isDone = false;
  try {
    await client.query('begin');
    const result = await work(async (text, values = []) => {
      const statement = { text, values, query_timeout: timeoutMs };
      return (await client.query(statement)).rows;
    });
    await client.query('commit');
    isDone = true;
    return result;
  } finally {
    client.release(!isDone);
  }
}
