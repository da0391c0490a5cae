/**
 * Durable runs in PostgreSQL, for several machines. Who holds a run holds it for a while and renews that; each time that a
 * run is taken its epoch grows, and a record is added only by a statement that sees the adder's own epoch, so that one
 * who was taken over can add nothing. A record counts as kept when its transaction has been committed; when the
 * connection breaks meanwhile the statement is tried again, and finds what it may have done before.
 */
import { hostname } from 'node:os';
import type { PoolConfig } from 'pg';
import { AgentdumpError } from '../../errors.ts';
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { describeProcess } from '../../journal/write/session.ts';
import { describeHolder, isSurelyDead } from './holder.ts';
import { type Patience, persist } from './persist.ts';
import type { PostgresPlace, PostgresPool } from './postgres-pool.ts';
import { PostgresRun } from './postgres-run.ts';
import type { DurableStore, RunReading, StoredRecord } from './store.ts';

export interface PostgresStoreOptions {
  /** A run whose holder was silent for so long may be taken by others. */
  leaseMs?: number;
  /** How long a broken connection, a full disk or a database that restarts is waited for. */
  patienceMs?: number;
}

const defaultLeaseMs = 15_000;
const defaultPatienceMs = 30_000;

const schema = `
  create table if not exists agentdump_runs (
    run_id text primary key, epoch bigint not null, holder text, lease_until timestamptz not null);
  create table if not exists agentdump_records (
    run_id text not null references agentdump_runs on delete cascade, seq bigint not null, epoch bigint not null,
    kind integer not null, at_ms double precision not null, payload bytea not null, primary key (run_id, seq));
  create table if not exists agentdump_answers (
    run_id text not null, path text not null, payload bytea not null, primary key (run_id, path));`;
/** Tables are made by one worker at a time; "if not exists" alone fails when two do it at once. */
const schemaLock = 0x61646d70;

interface RecordRow {
  seq: string;
  kind: number;
  at_ms: number;
  payload: Buffer;
}

export class PostgresStore implements DurableStore, PostgresPlace {
  readonly place: string;
  readonly pool: PostgresPool;
  readonly leaseMs: number;
  readonly patience: Patience;

  constructor(pool: PostgresPool, place: string, options: PostgresStoreOptions = {}) {
    this.pool = pool;
    this.place = place;
    this.leaseMs = options.leaseMs ?? defaultLeaseMs;
    this.patience = { ms: options.patienceMs ?? defaultPatienceMs, place };
    // An idle connection that breaks is replaced at the next query.
    pool.on('error', () => {});
  }

  /** `url`: as `pg` takes it. Makes the tables when they are not there. Needs the package `pg`. */
  static async connect(url: string, options: PostgresStoreOptions = {}): Promise<PostgresStore> {
    const { Pool } = (await importPg()).default;
    const config: PoolConfig = {
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 10_000,
    };
    const store = new PostgresStore(new Pool(config), placeOf(url), options);
    try {
      await persist(store.patience, () => store.#makeTables());
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  async open(runId: string): Promise<PostgresRun> {
    const epoch = await this.#take(runId);
    const { records } = await this.read(runId);
    return new PostgresRun(this, runId, epoch, records);
  }

  async read(runId: string): Promise<RunReading> {
    const found = await this.#query<{ holder: string | null; is_held: boolean }>(
      'select holder, lease_until > now() as is_held from agentdump_runs where run_id = $1',
      [runId],
    );
    const [run] = found;
    if (!run) throw new AgentdumpError('not-found', `no run ${runId} in ${this.place}`, { path: this.place });
    const rows = await this.#query<RecordRow>(
      'select seq, kind, at_ms, payload from agentdump_records where run_id = $1 order by seq',
      [runId],
    );
    const identity = run.is_held ? identityOf(run.holder) : undefined;
    const isHeld = identity !== undefined && !isSurelyDead(identity);
    return { records: rows.map(recordOf), notes: [], ...(isHeld && { holder: describeHolder(identity) }) };
  }

  async list(): Promise<string[]> {
    const rows = await this.#query<{ run_id: string }>(
      'select run_id from agentdump_runs order by run_id',
      [],
    );
    return rows.map(({ run_id }) => run_id);
  }

  async answer(runId: string, path: string, payload: Uint8Array): Promise<boolean> {
    const rows = await this.#query(
      `insert into agentdump_answers (run_id, path, payload) values ($1, $2, $3)
       on conflict do nothing returning path`,
      [runId, path, Buffer.from(payload)],
    );
    return rows.length > 0;
  }

  async findAnswer(runId: string, path: string): Promise<Uint8Array | undefined> {
    const rows = await this.#query<{ payload: Buffer }>(
      'select payload from agentdump_answers where run_id = $1 and path = $2',
      [runId, path],
    );
    return rows[0]?.payload;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /**
   * The new epoch. One statement, so exactly one of several takers has it; a holder that is surely dead is not waited
   * for. Tried again after a broken connection it may find itself to be the holder.
   */
  async #take(runId: string): Promise<number> {
    const [before] = await this.#query<{ holder: string | null }>(
      'select holder from agentdump_runs where run_id = $1',
      [runId],
    );
    const identity = identityOf(before?.holder ?? null);
    const dead = identity && isSurelyDead(identity) ? before?.holder : null;
    const rows = await this.#query<{ epoch: string }>(
      `insert into agentdump_runs as run (run_id, epoch, holder, lease_until)
       values ($1, 1, $2, now() + $3 * interval '1 millisecond')
       on conflict (run_id) do update
         set epoch = run.epoch + 1, holder = excluded.holder, lease_until = excluded.lease_until
         where run.holder is null or run.lease_until < now() or run.holder in ($2, $4)
       returning epoch`,
      [runId, ownHolder(), this.leaseMs, dead],
    );
    if (rows[0]) return Number(rows[0].epoch);
    const { holder = 'another worker' } = await this.read(runId);
    throw new AgentdumpError('held', `run ${runId} is held by ${holder}`, { run: runId, holder });
  }

  async #makeTables(): Promise<void> {
    await this.pool.query(`begin; select pg_advisory_xact_lock(${schemaLock}); ${schema} commit;`);
  }

  #query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return persist(this.patience, async () => (await this.pool.query(text, values)).rows as Row[]);
  }
}

function recordOf({ seq, kind, at_ms, payload }: RecordRow): StoredRecord {
  return { seq: Number(seq), kind, atMs: at_ms, payload };
}

let holdings = 0;
/** Differs for each taking, so that one of this process is not mistaken for another. */
function ownHolder(): string {
  return JSON.stringify({ ...describeProcess(process.pid), hostname: hostname(), holding: ++holdings });
}

function identityOf(holder: string | null): ProcessIdentity | undefined {
  return holder === null ? undefined : (JSON.parse(holder) as ProcessIdentity);
}

/** Without the password. */
function placeOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'PostgreSQL';
  }
}

async function importPg() {
  try {
    return await import('pg');
  } catch (cause) {
    throw new AgentdumpError(
      'usage',
      'a PostgreSQL store needs the package pg: npm install pg',
      { argument: 'store' },
      cause,
    );
  }
}
