/**
 * Durable runs in PostgreSQL, for several machines. A holder has a lease on a run and renews it. Each time a run is taken its
 * epoch is incremented, and a record is added only by a statement that checks the adder's epoch, so a holder that was taken
 * over can add nothing. A record counts as stored once its transaction is committed. If the connection breaks meanwhile, the
 * statement is retried, and detects whether the previous try was committed.
 */
import type { PoolConfig } from 'pg';
import { AgentdumpError } from '../../errors.ts';
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { describeHolder, isSurelyDead } from './holder.ts';
import { type Patience, persist } from './persist.ts';
import { hearErrors, importPg, placeOf } from './postgres/client.ts';
import { dueSeconds, newsChannel, PostgresDue, rest, type TakenRow } from './postgres/dispatch.ts';
import { keyOf, queueKeyOf } from './postgres/keys.ts';
import { PostgresNews } from './postgres/news.ts';
import { ownHolder, readHolder } from './postgres/owner.ts';
import type { PostgresPlace, PostgresPool, PostgresResult } from './postgres/pool.ts';
import { PreparedStatements } from './postgres/prepared.ts';
import { PostgresQueue } from './postgres/queue.ts';
import { PostgresRun } from './postgres/run.ts';
import { makeTables, type RecordRow, recordOf } from './postgres/tables.ts';
import { PostgresWriter } from './postgres/writer.ts';
import type {
  DueRun,
  DueWish,
  DurableStore,
  QueueWish,
  RunReading,
  RunRest,
  RunTitle,
  StoredRecord,
  TakenFromQueues,
  TakenRun,
} from './store.ts';

export interface PostgresStoreOptions {
  /** A run whose holder was silent for this long may be taken by others. */
  leaseMs?: number;
  /** How long to wait for a broken connection, a full disk or a database that restarts. */
  patienceMs?: number;
}

const defaultLeaseMs = 15_000;
const defaultPatienceMs = 30_000;

interface Taken {
  epoch: number;
  hasAnswers: boolean;
}

export class PostgresStore implements DurableStore, PostgresPlace {
  readonly place: string;
  readonly pool: PostgresPool;
  readonly leaseMs: number;
  readonly patience: Patience;
  readonly #news: PostgresNews;
  readonly #due: PostgresDue;
  readonly #writer: PostgresWriter;
  readonly #queue: PostgresQueue;
  readonly #statements: PreparedStatements;
  #isClosed = false;

  constructor(pool: PostgresPool, place: string, options: PostgresStoreOptions = {}) {
    this.pool = pool;
    this.place = place;
    this.leaseMs = options.leaseMs ?? defaultLeaseMs;
    this.patience = { ms: options.patienceMs ?? defaultPatienceMs, place };
    this.#news = new PostgresNews(pool);
    this.#statements = new PreparedStatements(pool);
    this.#due = new PostgresDue(this);
    this.#writer = new PostgresWriter(this);
    this.#queue = new PostgresQueue(this);
    hearErrors(pool);
  }

  /** `url`: as accepted by `pg`. Creates the tables if they don't exist. Requires the package `pg`. */
  static async connect(url: string, options: PostgresStoreOptions = {}): Promise<PostgresStore> {
    const { Pool } = (await importPg()).default;
    const config: PoolConfig = {
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 10_000,
    };
    const store = new PostgresStore(new Pool(config), placeOf(url), options);
    try {
      await persist(store.patience, () => makeTables(store.pool));
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  async open(runId: string, title: RunTitle = {}): Promise<PostgresRun> {
    const { epoch, hasAnswers } = await this.#take(runId, title);
    // A run that was just created has no records.
    const records = epoch === 1 ? [] : await this.#readRecords(runId);
    return new PostgresRun(this, this.#writer, { runId: keyOf(runId), epoch, records, hasAnswers });
  }

  /** False: there is a run with this id already. */
  async enqueue(
    runId: string,
    title: RunTitle,
    kind: number,
    payload: string | Uint8Array,
  ): Promise<boolean> {
    return this.#queue.add({ runId, title, kind, payload: Buffer.from(payload as string) });
  }

  async read(runId: string): Promise<RunReading> {
    const found = await this.#query<{ holder: string | null; is_held: boolean }>(
      'select holder, lease_until > now() as is_held from agentdump_runs where run_id = $1',
      [keyOf(runId)],
    );
    const [run] = found;
    if (!run)
      throw new AgentdumpError('not-found', `no run ${runId} in ${this.place}`, {
        path: this.place,
        run: runId,
      });
    const records = await this.#readRecords(runId);
    const holder = run.is_held ? wordsOf(run.holder) : undefined;
    return { records, notes: [], ...(holder !== undefined && { holder }) };
  }

  ask(text: string, values: unknown[]): Promise<PostgresResult> {
    return this.#statements.ask(text, values);
  }

  async #readRecords(runId: string): Promise<StoredRecord[]> {
    const rows = await this.#query<RecordRow>(
      'select seq, kind, at_ms, payload from agentdump_records where run_id = $1 order by seq',
      [keyOf(runId)],
    );
    return rows.map(recordOf);
  }

  async list(): Promise<string[]> {
    const rows = await this.#query<{ run_id: string }>(
      'select coalesce(full_id, run_id) as run_id from agentdump_runs order by run_id',
      [],
    );
    return rows.map(({ run_id }) => run_id);
  }

  async answer(runId: string, path: string, payload: Uint8Array): Promise<boolean> {
    const rows = await this.#query(
      `with kept as (
         insert into agentdump_answers (run_id, path, payload) values ($1, $2, $3) on conflict do nothing
         returning run_id),
       woken as (
         update agentdump_runs
         set due_at = case when due_at <= now() then due_at + interval '1 microsecond' when is_firm then due_at else now() end
         from kept where agentdump_runs.run_id = kept.run_id)
       select pg_notify('${newsChannel}', run_id) from kept`,
      [keyOf(runId), keyOf(path), Buffer.from(payload)],
    );
    return rows.length > 0;
  }

  async findAnswer(runId: string, path: string): Promise<Uint8Array | undefined> {
    const rows = await this.#query<{ payload: Buffer }>(
      'select payload from agentdump_answers where run_id = $1 and path = $2',
      [keyOf(runId), keyOf(path)],
    );
    return rows[0]?.payload;
  }

  async findDue(names: readonly string[], most: number, againMs?: number): Promise<DueRun[]> {
    this.requireOpen();
    return this.#due.find(names, most, againMs);
  }

  async takeDue(wish: DueWish): Promise<TakenRun[]> {
    this.requireOpen();
    return this.#handOver(await this.#due.take(wish));
  }

  async takeQueued(wish: QueueWish): Promise<TakenFromQueues> {
    this.requireOpen();
    const { rows, againMs } = await this.#due.takeQueued(wish);
    return { runs: await this.#handOver(rows), ...(againMs !== undefined && { againMs }) };
  }

  async #handOver(rows: readonly TakenRow[]): Promise<TakenRun[]> {
    const read = new Map<string, StoredRecord[]>();
    const held = rows.filter(({ name }) => name !== null);
    const unread = held.filter(({ is_new }) => !is_new).map(({ key }) => key);
    try {
      if (unread.length > 0) await this.#readAll(unread, read);
    } catch (error) {
      await Promise.all(held.map((row) => this.#handleOf(row, []).release()));
      throw error;
    }
    return rows.map((row) => {
      const { id, name, key } = row;
      if (name === null) return { id };
      return {
        id,
        name,
        handle: this.#handleOf(row, row.is_new ? [recordOf(row as RecordRow)] : (read.get(key) ?? [])),
      };
    });
  }

  #handleOf(row: TakenRow, records: StoredRecord[]): PostgresRun {
    const { key: runId, epoch, has_answers: hasAnswers, is_new: isOpened } = row;
    return new PostgresRun(this, this.#writer, {
      runId,
      epoch: Number(epoch),
      records,
      hasAnswers,
      isOpened,
    });
  }

  async #readAll(keys: readonly string[], into: Map<string, StoredRecord[]>): Promise<void> {
    const rows = await this.#query<RecordRow & { run_id: string }>(
      'select run_id, seq, kind, at_ms, payload from agentdump_records where run_id = any($1) order by run_id, seq',
      [keys],
    );
    for (const row of rows) {
      const records = into.get(row.run_id) ?? [];
      into.set(row.run_id, records);
      records.push(recordOf(row));
    }
  }

  async rest(runId: string, wish: RunRest): Promise<void> {
    this.requireOpen();
    await persist(this.patience, () => rest(this, runId, wish));
  }

  watch(tell: (runId?: string) => void): () => void {
    return this.#news.watch(tell);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#news.close();
    await this.pool.end();
  }

  requireOpen(): void {
    if (this.#isClosed)
      throw new AgentdumpError('closed', `the store ${this.place} is closed`, { path: this.place });
  }

  /** A holder that is certainly dead is not waited for. This is only checked if the run can't be taken otherwise. */
  async #take(runId: string, title: RunTitle): Promise<Taken> {
    const taken = await this.#tryToTake(runId, title, null);
    if (taken) return taken;
    const [before] = await this.#query<{ holder: string | null }>(
      'select holder from agentdump_runs where run_id = $1',
      [keyOf(runId)],
    );
    const identity = identityOf(before?.holder ?? null);
    const isDead = identity !== undefined && isSurelyDead(identity);
    const fromDead = isDead ? await this.#tryToTake(runId, title, before?.holder ?? null) : undefined;
    if (fromDead) return fromDead;
    const { holder = 'another worker' } = await this.read(runId);
    throw new AgentdumpError('held', `run ${runId} is held by ${holder}`, { run: runId, holder });
  }

  /**
   * A single statement, so exactly one of several takers succeeds. A retry after a broken connection may find that this
   * process is the holder already. Undefined if another one holds it.
   */
  async #tryToTake(
    runId: string,
    { name, priority = 0, isWork = false, dueAtMs, queue, queueKey }: RunTitle,
    dead: string | null,
  ): Promise<Taken | undefined> {
    const key = keyOf(runId);
    const [row] = await this.#query<{ epoch: string; has_answers: boolean }>(
      `insert into agentdump_runs as run
         (run_id, epoch, holder, lease_until, name, priority, full_id, due_at, is_firm, queue, queue_key)
       values ($1, 1, $2, now() + $3 * interval '1 millisecond', $5, $6, $7, coalesce(to_timestamp($9::float8), now()),
         $9 is not null, $10, $11)
       on conflict (run_id) do update
         set epoch = run.epoch + 1, holder = excluded.holder, lease_until = excluded.lease_until, is_over = false,
           name = coalesce(run.name, excluded.name), queue = coalesce(run.queue, excluded.queue),
           queue_key = coalesce(run.queue_key, excluded.queue_key), is_waiting = run.is_waiting and not $8, due_at = case when $8 then now() else run.due_at end,
           is_firm = run.is_firm and not $8
         where run.holder is null or run.lease_until < now() or run.holder in ($2, $4)
       returning epoch, exists (select from agentdump_answers as answer where answer.run_id = $1) as has_answers`,
      [
        key,
        ownHolder(),
        this.leaseMs,
        dead,
        name ?? null,
        priority,
        key === runId ? null : runId,
        isWork,
        dueSeconds({ isOver: false, ...(dueAtMs !== undefined && { dueAtMs }) }),
        queueKeyOf(queue),
        queueKeyOf(queueKey),
      ],
    );
    return row && { epoch: Number(row.epoch), hasAnswers: row.has_answers };
  }

  #query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return persist(this.patience, async () => {
      this.requireOpen();
      return (await this.ask(text, values)).rows as Row[];
    });
  }
}

/** Undefined if there is no holder. */
function wordsOf(holder: string | null): string | undefined {
  if (holder === null) return undefined;
  const identity = identityOf(holder);
  if (!identity) return 'somebody whose name can not be read';
  return isSurelyDead(identity) ? undefined : describeHolder(identity);
}

function identityOf(holder: string | null): ProcessIdentity | undefined {
  return holder === null ? undefined : readHolder(holder);
}
