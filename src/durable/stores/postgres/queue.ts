/** Queues runs that don't exist yet, each with its first record. Runs that are queued at the same time share a statement. */
import { isLasting, persist } from '../persist.ts';
import type { RunTitle } from '../store.ts';
import { dueSeconds, newsChannel } from './dispatch.ts';
import { keyOf, queueKeyOf } from './keys.ts';
import type { PostgresPlace } from './pool.ts';

export interface QueuedRecord {
  runId: string;
  title: RunTitle;
  kind: number;
  payload: Buffer;
}

interface Waiting extends QueuedRecord {
  key: string;
  atMs: number;
  resolve(isNew: boolean): void;
  reject(error: unknown): void;
}

/**
 * A run whose lease is `-infinity` was never taken: it has one record, which its taker need not read again. Sorted by id,
 * because otherwise two processes that queue the same runs at the same time would deadlock.
 */
const queueStatement = `
  with asked as (
    select * from unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::float8[], $6::integer[], $7::double precision[], $8::bytea[],
      $9::text[], $10::text[])
      as one (run_id, name, priority, full_id, due, kind, at_ms, payload, queue, queue_key)),
  queued as (
    insert into agentdump_runs (run_id, epoch, lease_until, name, priority, full_id, due_at, is_firm, queue, queue_key)
    select run_id, 1, '-infinity', name, priority, full_id, coalesce(to_timestamp(due), now()), due is not null, queue, queue_key
    from asked order by run_id
    on conflict do nothing
    returning run_id, due_at),
  begun as (
    insert into agentdump_records (run_id, seq, epoch, kind, at_ms, payload)
    select run_id, 0, 1, kind, at_ms, payload from asked join queued using (run_id)),
  told as (select pg_notify('${newsChannel}', run_id) from queued where due_at <= now())
  select run_id, (select count(*) from told) as told from queued`;
const foundStatement = `
  select record.run_id from agentdump_records as record
  join unnest($1::text[], $2::double precision[], $3::bytea[]) as one (run_id, at_ms, payload)
    on record.run_id = one.run_id and record.at_ms = one.at_ms and record.payload = one.payload
  where record.seq = 0`;
const mostInOneStatement = 200;

export class PostgresQueue {
  readonly #store: PostgresPlace;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(store: PostgresPlace) {
    this.#store = store;
  }

  /** False: there is a run with this id already. */
  add(record: QueuedRecord): Promise<boolean> {
    return new Promise((resolve, reject) => {
      // With microseconds, by which the row is recognized as ours if the response of the server is lost.
      const atMs = performance.timeOrigin + performance.now();
      this.#waiting.push({ ...record, key: keyOf(record.runId), atMs, resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      setImmediate(() => void this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      try {
        const queued = await this.#write(batch);
        for (const { key, resolve } of batch) resolve(queued.has(key));
      } catch (error) {
        // A record that is refused must not affect the others.
        if (batch.length > 1 && isLasting(error))
          await Promise.all(batch.map((one) => this.#writeAlone(one)));
        else for (const { reject } of batch) reject(error);
      }
      // Callers that were answered queue the next run in this turn, which then shares a statement with others.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#isWriting = false;
  }

  async #writeAlone(one: Waiting): Promise<void> {
    await this.#write([one]).then((queued) => one.resolve(queued.has(one.key)), one.reject);
  }

  /** Each id once. */
  #take(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const left: Waiting[] = [];
    for (const one of this.#waiting)
      if (batch.size < mostInOneStatement && !batch.has(one.key)) batch.set(one.key, one);
      else left.push(one);
    this.#waiting = left;
    return [...batch.values()];
  }

  async #write(batch: readonly Waiting[]): Promise<Set<string>> {
    const { patience } = this.#store;
    let tries = 0;
    return persist(patience, async () => {
      this.#store.requireOpen();
      tries++;
      const { rows } = await this.#store.ask(queueStatement, [
        batch.map(({ key }) => key),
        batch.map(({ title }) => title.name ?? null),
        batch.map(({ title }) => title.priority ?? 0),
        batch.map(({ key, runId }) => (key === runId ? null : runId)),
        batch.map(({ title: { dueAtMs } }) =>
          dueSeconds({ isOver: false, ...(dueAtMs !== undefined && { dueAtMs }) }),
        ),
        batch.map(({ kind }) => kind),
        batch.map(({ atMs }) => atMs),
        batch.map(({ payload }) => payload),
        batch.map(({ title: { queue } }) => queueKeyOf(queue)),
        batch.map(({ title: { queueKey } }) => queueKeyOf(queueKey)),
      ]);
      const queued = new Set((rows as { run_id: string }[]).map(({ run_id }) => run_id));
      if (tries === 1 || queued.size === batch.length) return queued;
      // A previous try may have been committed although its connection broke.
      const found = await this.#store.ask(foundStatement, [
        batch.map(({ key }) => key),
        batch.map(({ atMs }) => atMs),
        batch.map(({ payload }) => payload),
      ]);
      for (const { run_id } of found.rows as { run_id: string }[]) queued.add(run_id);
      return queued;
    });
  }
}
