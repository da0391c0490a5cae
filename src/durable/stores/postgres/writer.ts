/**
 * Adds the records of all runs that a process holds. Waiting records are sent in one statement, and the rows of a run are
 * added only if its epoch is still the holder's. So eight concurrent runs need one commit for many of their records, and each
 * is fenced as if it were alone. The last record of a run and its release are also one statement.
 */
import { isLasting, persist } from '../persist.ts';
import type { RunRest } from '../store.ts';
import { dueSeconds, newsChannel } from './dispatch.ts';
import type { PostgresPlace } from './pool.ts';

export interface WaitingRecord {
  seq: number;
  kind: number;
  atMs: number;
  payload: Buffer;
  /** The last record of the run, which is released by it. */
  last?: RunRest | undefined;
  resolve(seq: number): void;
  reject(error: unknown): void;
}

/** A run of this holder, with the records that wait to be added. */
export interface WritingRun {
  readonly runId: string;
  readonly epoch: number;
  readonly waiting: WaitingRecord[];
  /** Why nothing more is added: no record may follow a lost one. */
  broken: unknown;
  /** A statement with its records is in flight, which the next one must not overtake. */
  isWriting: boolean;
  takenOver(): Error;
}

interface Batch {
  run: WritingRun;
  records: WaitingRecord[];
}

/**
 * The lock prevents others from taking a run in between. The epoch is compared too, because a process may have lost a run and
 * taken it again.
 */
const addStatement = `
  with held as (
    select run.run_id, run.epoch
    from unnest($1::text[], $2::bigint[]) as mine (run_id, epoch)
    join agentdump_runs as run on run.run_id = mine.run_id and run.epoch = mine.epoch
    for no key update of run),
  freed as (
    update agentdump_runs as run
    set holder = null, is_waiting = false, is_over = last.is_over, is_firm = last.is_firm, due_at = coalesce(to_timestamp(last.due), now())
    from unnest($9::text[], $10::bigint[], $11::boolean[], $12::boolean[], $13::float8[]) as last (run_id, epoch, is_over, is_firm, due)
    where run.run_id = last.run_id and run.epoch = last.epoch
    returning run.run_id, run.is_over, run.due_at),
  told as (select pg_notify('${newsChannel}', run_id) from freed where not is_over and due_at <= now()),
  added as (
    insert into agentdump_records (run_id, seq, epoch, kind, at_ms, payload)
    select held.run_id, one.seq, held.epoch, one.kind, one.at_ms, one.payload
    from unnest($3::text[], $4::bigint[], $5::bigint[], $6::integer[], $7::double precision[], $8::bytea[])
      as one (run_id, epoch, seq, kind, at_ms, payload)
    join held on held.run_id = one.run_id and held.epoch = one.epoch
    on conflict do nothing
    returning run_id, epoch)
  select run_id, epoch, count(*)::integer as count, (select count(*) from told) as told from added group by run_id, epoch`;
const countStatement =
  'select count(*)::integer as count from agentdump_records where run_id = $1 and epoch = $2 and seq = any($3)';
const mostInOneStatement = 500;
const mostBytesInOneStatement = 4 * 1024 * 1024;
/** While one is committed, the next is in flight. */
const mostStatements = 2;

export class PostgresWriter {
  readonly #store: PostgresPlace;
  readonly #runs = new Set<WritingRun>();
  #statements = 0;
  #isDue = false;

  constructor(store: PostgresPlace) {
    this.#store = store;
  }

  noteWaiting(run: WritingRun): void {
    this.#runs.add(run);
    this.#beginSoon();
  }

  /** Records that programs add in this turn of the loop, such as their next steps, are included. */
  #beginSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#statements < mostStatements) {
      const batches = this.#take();
      if (batches.length === 0) return;
      this.#statements++;
      void this.#writeAll(batches).finally(() => {
        this.#statements--;
        this.#beginSoon();
      });
    }
  }

  #take(): Batch[] {
    const batches: Batch[] = [];
    let count = 0;
    let bytes = 0;
    for (const run of this.#runs) {
      if (run.isWriting) continue;
      let many = 0;
      for (const { payload } of run.waiting) {
        const isFull = count >= mostInOneStatement || bytes + payload.length > mostBytesInOneStatement;
        if (isFull && count > 0) break;
        many++;
        count++;
        bytes += payload.length;
      }
      if (many > 0) {
        run.isWriting = true;
        batches.push({ run, records: run.waiting.splice(0, many) });
      }
      if (run.waiting.length === 0) this.#runs.delete(run);
    }
    return batches;
  }

  async #writeAll(batches: Batch[]): Promise<void> {
    const whole = batches.filter((batch) => !this.#rejectBroken(batch));
    try {
      if (whole.length > 1) await this.#writeTogether(whole);
      else if (whole[0]) await this.#settle(whole[0], () => this.#write(whole));
    } finally {
      for (const { run } of batches) run.isWriting = false;
    }
  }

  /**
   * A batch that the server refuses for its contents is retried record by record, so that an invalid record only affects its
   * own run.
   */
  async #writeTogether(batches: Batch[]): Promise<void> {
    const together = this.#write(batches);
    const isRefused = await together.then(
      () => false,
      (error) => isLasting(error),
    );
    const write = (batch: Batch) => (isRefused ? this.#write([batch]) : together);
    await Promise.all(batches.map((batch) => this.#settle(batch, () => write(batch))));
  }

  async #settle(batch: Batch, write: () => Promise<Map<string, number>>): Promise<void> {
    const { run, records } = batch;
    try {
      await this.#requireAdded(batch, await write());
      for (const { seq, resolve } of records) resolve(seq);
    } catch (error) {
      run.broken ??= error;
      this.#rejectBroken(batch);
    }
  }

  #rejectBroken({ run, records }: Batch): boolean {
    if (!run.broken) return false;
    for (const { reject } of [...records, ...run.waiting.splice(0)]) reject(run.broken);
    return true;
  }

  /** How many rows of each run were added. */
  #write(batches: readonly Batch[]): Promise<Map<string, number>> {
    const rows = batches.flatMap(({ run, records }) => records.map((record) => ({ run, ...record })));
    const last = rows.flatMap(({ run, last: rest }) => (rest ? [{ run, rest }] : []));
    return persist(this.#store.patience, async () => {
      this.#store.requireOpen();
      const added = await this.#store.ask(addStatement, [
        batches.map(({ run }) => run.runId),
        batches.map(({ run }) => run.epoch),
        rows.map(({ run }) => run.runId),
        rows.map(({ run }) => run.epoch),
        rows.map(({ seq }) => seq),
        rows.map(({ kind }) => kind),
        rows.map(({ atMs }) => atMs),
        rows.map(({ payload }) => payload),
        last.map(({ run }) => run.runId),
        last.map(({ run }) => run.epoch),
        last.map(({ rest }) => rest.isOver),
        last.map(({ rest }) => rest.isFirm ?? false),
        last.map(({ rest }) => dueSeconds(rest)),
      ]);
      const counts = new Map<string, number>();
      for (const { run_id, epoch, count } of added.rows as { run_id: string; epoch: string; count: number }[])
        counts.set(nameOf({ runId: run_id, epoch: Number(epoch) }), count);
      return counts;
    });
  }

  /** A previous try may have been committed although its connection broke. */
  async #requireAdded({ run, records }: Batch, added: Map<string, number>): Promise<void> {
    if (added.get(nameOf(run)) === records.length) return;
    const seqs = records.map(({ seq }) => seq);
    const [row] = await persist(this.#store.patience, async () => {
      this.#store.requireOpen();
      const kept = await this.#store.ask(countStatement, [run.runId, run.epoch, seqs]);
      return kept.rows as { count: number }[];
    });
    if (row?.count !== records.length) throw run.takenOver();
  }
}

const nameOf = ({ runId, epoch }: { runId: string; epoch: number }): string => `${epoch} ${runId}`;
