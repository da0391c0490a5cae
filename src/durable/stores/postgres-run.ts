/** One run in this worker's hands, in PostgreSQL: adds records in their order, as many in a statement as wait. */
import { AgentdumpError } from '../../errors.ts';
import { persist } from './persist.ts';
import { dueSeconds, newsChannel } from './postgres-dispatch.ts';
import type { PostgresPlace } from './postgres-pool.ts';
import type { RunHandle, RunRest, StoredRecord } from './store.ts';

interface Waiting {
  seq: number;
  kind: number;
  atMs: number;
  payload: Buffer;
  resolve(seq: number): void;
  reject(error: unknown): void;
}

/** Only rows whose epoch is still the run's are added; the lock keeps others from taking the run in between. */
const addStatement = `
  with held as (select 1 from agentdump_runs where run_id = $1 and epoch = $2 for share)
  insert into agentdump_records (run_id, seq, epoch, kind, at_ms, payload)
  select $1, one.seq, $2, one.kind, one.at_ms, one.payload
  from unnest($3::bigint[], $4::integer[], $5::double precision[], $6::bytea[]) as one (seq, kind, at_ms, payload), held
  on conflict do nothing
  returning seq`;
const countStatement =
  'select count(*)::integer as count from agentdump_records where run_id = $1 and epoch = $2 and seq = any($3)';
const mostInOneStatement = 500;

export class PostgresRun implements RunHandle {
  readonly epoch: number;
  readonly records: readonly StoredRecord[];
  readonly notes: readonly string[] = [];
  readonly hasAnswers: boolean;
  readonly #store: PostgresPlace;
  readonly #runId: string;
  readonly #heartbeat: NodeJS.Timeout;
  #nextSeq: number;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #broken: unknown;
  #tellLoss: (error: Error) => void = () => {};

  constructor(
    store: PostgresPlace,
    runId: string,
    epoch: number,
    records: readonly StoredRecord[],
    hasAnswers: boolean,
  ) {
    this.hasAnswers = hasAnswers;
    this.#store = store;
    this.#runId = runId;
    this.epoch = epoch;
    this.records = records;
    this.#nextSeq = (records.at(-1)?.seq ?? -1) + 1;
    this.#heartbeat = setInterval(() => void this.#renew(), store.leaseMs / 3).unref();
  }

  /** A commit waits for the database's disk, so `sync` asks for nothing more. */
  append(kind: number, payload: string | Uint8Array): Promise<number> {
    if (this.#broken) return Promise.reject(this.#broken);
    const seq = this.#nextSeq++;
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        seq,
        kind,
        atMs: Date.now(),
        payload: Buffer.from(payload as string),
        resolve,
        reject,
      });
      if (this.#isWriting) return;
      // What the program does in this turn of the loop, as its next step, goes with it.
      this.#isWriting = true;
      setImmediate(() => void this.#writeAll());
    });
  }

  onLost(tell: (error: Error) => void): void {
    this.#tellLoss = tell;
  }

  /** An answer changes the time at which the run is due, in the row that `release` writes. */
  async mark(): Promise<string> {
    const { pool, patience } = this.#store;
    const { rows } = await persist(patience, () =>
      pool.query('select due_at::text as mark from agentdump_runs where run_id = $1', [this.#runId]),
    );
    return (rows as { mark: string }[])[0]?.mark ?? '';
  }

  /** When the database is away the lease runs out by itself. */
  async release(rest?: RunRest): Promise<void> {
    clearInterval(this.#heartbeat);
    const letGo = `
      with freed as (
        update agentdump_runs
        set holder = null, is_over = coalesce($3, is_over), is_firm = coalesce($6, is_firm),
          due_at = case when $3 is null or due_at <> $5::timestamptz then due_at
            else coalesce(to_timestamp($4::float8), now()) end
        where run_id = $1 and epoch = $2 returning run_id, due_at)
      select pg_notify('${newsChannel}', run_id) from freed where not $3 and due_at <= now()`;
    const due = rest ? dueSeconds(rest) : null;
    const values = [
      this.#runId,
      this.epoch,
      rest?.isOver ?? null,
      due,
      rest?.mark ?? null,
      rest ? (rest.isFirm ?? false) : null,
    ];
    await this.#store.pool.query(letGo, values).catch(() => {});
  }

  /** After a failure nothing more is added: a record may not follow one that is lost. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInOneStatement);
      try {
        if (this.#broken) throw this.#broken;
        await persist(this.#store.patience, () => this.#write(batch));
        for (const { seq, resolve } of batch) resolve(seq);
      } catch (error) {
        this.#broken = error;
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    this.#store.requireOpen();
    const { pool } = this.#store;
    const seqs = batch.map(({ seq }) => seq);
    const added = await pool.query(addStatement, [
      this.#runId,
      this.epoch,
      seqs,
      batch.map(({ kind }) => kind),
      batch.map(({ atMs }) => atMs),
      batch.map(({ payload }) => payload),
    ]);
    if (added.rowCount === batch.length) return;
    // A try before this one may have been committed although its connection broke.
    const kept = await pool.query(countStatement, [this.#runId, this.epoch, seqs]);
    const [row] = kept.rows as { count: number }[];
    if (row?.count !== batch.length) throw this.#takenOver();
  }

  async #renew(): Promise<void> {
    try {
      const renewed = await this.#store.pool.query(
        `update agentdump_runs set lease_until = now() + $3 * interval '1 millisecond' where run_id = $1 and epoch = $2`,
        [this.#runId, this.epoch, this.#store.leaseMs],
      );
      if (renewed.rowCount !== 0) return;
      const error = this.#takenOver();
      this.#broken ??= error;
      this.#tellLoss(error);
    } catch {
      // The next beat tries again; whether the run was taken over meanwhile, the next record finds out.
    }
  }

  #takenOver(): AgentdumpError {
    clearInterval(this.#heartbeat);
    const holder = 'a worker that took it over meanwhile';
    return new AgentdumpError('held', `run ${this.#runId} is held by ${holder}`, {
      run: this.#runId,
      holder,
    });
  }
}
