/** A run that this worker holds in PostgreSQL: its lease, and the records that it adds in order. */
import { AgentdumpError } from '../../../errors.ts';
import { persist } from '../persist.ts';
import type { RunHandle, RunRest, StoredRecord } from '../store.ts';
import { dueSeconds, newsChannel } from './dispatch.ts';
import type { PostgresPlace } from './pool.ts';
import type { PostgresWriter, WaitingRecord, WritingRun } from './writer.ts';

export interface HeldRun {
  runId: string;
  epoch: number;
  records: readonly StoredRecord[];
  hasAnswers: boolean;
  /** The record of its opening was added when it was taken, and is not in `records`. */
  isOpened?: boolean;
}

const releaseStatement = `
  with freed as (
    update agentdump_runs
    set holder = null, is_over = coalesce($3, is_over), is_firm = coalesce($6, is_firm), is_waiting = $5::timestamptz is not null,
      due_at = case when $3 is null or due_at <> $5::timestamptz then due_at
        else coalesce(to_timestamp($4::float8), now()) end
    where run_id = $1 and epoch = $2 returning run_id, due_at)
  select pg_notify('${newsChannel}', run_id) from freed where not $3 and due_at <= now()`;

export class PostgresRun implements RunHandle, WritingRun {
  readonly runId: string;
  readonly epoch: number;
  readonly waiting: WaitingRecord[] = [];
  broken: unknown;
  isWriting = false;
  readonly records: readonly StoredRecord[];
  readonly notes: readonly string[] = [];
  readonly hasAnswers: boolean;
  readonly isOpened: boolean;
  readonly #store: PostgresPlace;
  readonly #writer: PostgresWriter;
  readonly #heartbeat: NodeJS.Timeout;
  #nextSeq: number;
  /** Its last record was added, and the run was released by the same statement. */
  #isReleased = false;
  #tellLoss: (error: Error) => void = () => {};

  constructor(
    store: PostgresPlace,
    writer: PostgresWriter,
    { runId, epoch, records, hasAnswers, isOpened = false }: HeldRun,
  ) {
    this.hasAnswers = hasAnswers;
    this.isOpened = isOpened;
    this.#store = store;
    this.#writer = writer;
    this.runId = runId;
    this.epoch = epoch;
    this.records = records;
    this.#nextSeq = (records.at(-1)?.seq ?? -1) + (isOpened ? 2 : 1);
    this.#heartbeat = setInterval(() => void this.#renew(), store.leaseMs / 3).unref();
  }

  /** A commit waits for the database's disk, so `sync` has no additional effect. */
  async append(kind: number, payload: string | Uint8Array, _sync?: boolean, last?: RunRest): Promise<number> {
    if (this.broken) throw this.broken;
    const seq = this.#nextSeq++;
    await new Promise<number>((resolve, reject) => {
      const bytes = Buffer.from(payload as string);
      this.waiting.push({ seq, kind, atMs: Date.now(), payload: bytes, last, resolve, reject });
      this.#writer.noteWaiting(this);
    });
    if (last) this.#isReleased = true;
    return seq;
  }

  onLost(tell: (error: Error) => void): void {
    this.#tellLoss = tell;
  }

  /** An answer changes the due time of the run, in the row that `release` writes. */
  async mark(): Promise<string> {
    const { rows } = await persist(this.#store.patience, () =>
      this.#store.ask('select due_at::text as mark from agentdump_runs where run_id = $1', [this.runId]),
    );
    return (rows as { mark: string }[])[0]?.mark ?? '';
  }

  /** If the database is unavailable, the lease expires by itself. */
  async release(rest?: RunRest): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.#isReleased) return;
    const due = rest ? dueSeconds(rest) : null;
    const values = [
      this.runId,
      this.epoch,
      rest?.isOver ?? null,
      due,
      rest?.mark ?? null,
      rest ? (rest.isFirm ?? false) : null,
    ];
    await this.#store.ask(releaseStatement, values).catch(() => {});
  }

  async #renew(): Promise<void> {
    try {
      const renewed = await this.#store.ask(
        `update agentdump_runs set lease_until = now() + $3 * interval '1 millisecond' where run_id = $1 and epoch = $2`,
        [this.runId, this.epoch, this.#store.leaseMs],
      );
      if (renewed.rowCount !== 0) return;
      const error = this.takenOver();
      this.broken ??= error;
      this.#tellLoss(error);
    } catch {
      // The next heartbeat retries; whether the run was taken over meanwhile is detected by the next record.
    }
  }

  takenOver(): AgentdumpError {
    clearInterval(this.#heartbeat);
    const holder = 'a worker that took it over meanwhile';
    return new AgentdumpError('held', `run ${this.runId} is held by ${holder}`, {
      run: this.runId,
      holder,
    });
  }
}
