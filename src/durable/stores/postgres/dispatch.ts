/**
 * Which runs in PostgreSQL are due. The row that holds a run's lease also contains its due time, so a claim, a pause and the
 * fence are one row, and there is no second queue that could disagree.
 */
import { dueTimeOf } from '../due-time.ts';
import { isSurelyDead } from '../holder.ts';
import { type QueueLimits, type RunRate, ratesOf } from '../queue-limits.ts';
import type { DueRun, DueWish, QueueWish, RunRest } from '../store.ts';
import { keyOf } from './keys.ts';
import { ownHolder, readHolder } from './owner.ts';
import type { PostgresPlace } from './pool.ts';
import type { RecordRow } from './tables.ts';
import { takeQueuedStatement, takeQueuedValues } from './take-queued.ts';

export const newsChannel = 'agentdump_news';

/** A run that was handed to one worker is not handed to another for this long, so concurrent callers get different runs. */
const givenMs = 2_000;

const dueRows = `
    where not is_over and queue is null and due_at <= now() and (name is null or name = any($1))
      and (holder is null or lease_until < now() or holder = any($2))`;
const mostUrgent = 'order by priority desc, name is null, due_at limit $3 for update skip locked';

const giveStatement = `
  with due as (select run_id from agentdump_runs ${dueRows} ${mostUrgent})
  update agentdump_runs as run set due_at = now() + $4 * interval '1 millisecond'
  from due where run.run_id = due.run_id
  returning coalesce(run.full_id, run.run_id) as id, run.name, run.priority`;

/**
 * Hands out runs, and takes those whose name is known. A run that was queued and never taken has one record, to which no
 * holder can have added: it is read here, and its opening is recorded.
 */
const takeStatement = `
  with due as (
    select run_id, epoch = 1 and lease_until = '-infinity' as is_new from agentdump_runs
    ${dueRows} and run_id <> all($4) ${mostUrgent}),
  taken as (
    update agentdump_runs as run
    set epoch = run.epoch + case when run.name is null then 0 else 1 end,
      holder = case when run.name is null then run.holder else $5 end,
      lease_until = case when run.name is null then run.lease_until else now() + $6 * interval '1 millisecond' end,
      due_at = case when run.name is null then now() + ${givenMs} * interval '1 millisecond' else run.due_at end,
      is_firm = run.is_firm and run.name is null
    from due where run.run_id = due.run_id
    returning run.run_id, run.full_id, run.name, run.priority, run.epoch, due.is_new and run.name is not null as is_new),
  opened as (
    insert into agentdump_records (run_id, seq, epoch, kind, at_ms, payload)
    select run_id, 1, epoch, $7, $8::float8, $9::bytea from taken where is_new)
  select taken.run_id as key, coalesce(taken.full_id, taken.run_id) as id, taken.name, taken.priority, taken.epoch, taken.is_new,
    exists (select from agentdump_answers as answer where answer.run_id = taken.run_id) as has_answers,
    record.seq, record.kind, record.at_ms, record.payload
  from taken left join agentdump_records as record
    on taken.is_new and record.run_id = taken.run_id and record.seq = 0`;

/** Those from which something might be taken. */
const dueQueuesStatement = `
  select queue from agentdump_runs
  where not is_over and queue = any($1) and due_at <= now() and name = any($2)
    and (holder is null or lease_until < now() or holder = any($3))
  group by queue order by min(due_at)`;

const shortestPauseMs = 20;
/** The average time between two starts. */
const pauseBetween = ({ starts, periodMs }: RunRate) => Math.max(shortestPauseMs, periodMs / starts);

/** There is no need to wait for the lease of a process that is certainly dead. */
const holdersStatement = `
  select distinct holder from agentdump_runs
  where not is_over and due_at <= now() and holder is not null and lease_until > now()
    and (name is null or name = any($1))`;

/** Dead holders are looked for when there is room for more runs, and at least this often. */
const holdersEveryMs = 1_000;

export interface TakenRow extends Partial<RecordRow> {
  key: string;
  id: string;
  name: string | null;
  priority: number;
  epoch: string;
  is_new: boolean;
  has_answers: boolean;
}

export class PostgresDue {
  readonly #store: PostgresPlace;
  #holdersAtMs = Number.NEGATIVE_INFINITY;
  /** The dead ones among them. */
  #dead: string[] = [];
  /**
   * Holder ids of take statements whose outcome is unknown. Runs may be held under them, although no process works at those.
   */
  #unknown: { holder: string; atMs: number; isOfQueue?: true }[] = [];

  constructor(store: PostgresPlace) {
    this.#store = store;
  }

  async find(names: readonly string[], most: number, againMs: number = givenMs): Promise<DueRun[]> {
    const found = await this.#look(names, most, async (dead, left) => {
      return (await this.#store.ask(giveStatement, [names, dead, left, againMs])).rows as GivenRow[];
    });
    return found.map(({ id, name }) => ({ id, ...(name !== null && { name }) }));
  }

  /** Those with a name are now held by this holder. */
  async take(wish: DueWish): Promise<TakenRow[]> {
    return this.#look(wish.names, wish.most, async (dead, left) => {
      const rows = await this.#takeAs(ownHolder(), [...dead, ...this.#unknownHolders()], left, wish);
      if (rows.length < left) this.#unknown = this.#unknown.filter(({ isOfQueue }) => isOfQueue);
      return rows;
    });
  }

  /** Of each queue as many as its limits permit. */
  async takeQueued({ queues, ...wish }: QueueWish): Promise<{ rows: TakenRow[]; againMs?: number }> {
    if (performance.now() - this.#holdersAtMs >= holdersEveryMs) await this.#findDead(wish.names);
    const dead = [...this.#dead, ...this.#unknownHolders()];
    const limitsOf = new Map(Object.entries(queues).map(([queue, limits]) => [keyOf(queue), limits]));
    const due = await this.#store.ask(dueQueuesStatement, [[...limitsOf.keys()], wish.names, dead]);
    const rows: TakenRow[] = [];
    let againMs = Number.POSITIVE_INFINITY;
    for (const { queue } of due.rows as { queue: string }[]) {
      const left = wish.most - rows.length;
      if (left <= 0) break;
      const limits = limitsOf.get(queue) ?? {};
      const taken = await this.#takeOf(queue, limits, dead, { ...wish, most: left });
      rows.push(...taken);
      if (taken.length < left) againMs = Math.min(againMs, ...ratesOf(limits).map(pauseBetween));
    }
    return { rows, ...(Number.isFinite(againMs) && { againMs }) };
  }

  async #takeOf(queue: string, limits: QueueLimits, dead: string[], wish: DueWish): Promise<TakenRow[]> {
    const holder = ownHolder();
    try {
      const taken = await this.#store.ask(
        takeQueuedStatement,
        takeQueuedValues(queue, limits, dead, wish, holder, this.#store.leaseMs),
      );
      return taken.rows as TakenRow[];
    } catch (error) {
      this.#unknown.push({ holder, atMs: performance.now(), isOfQueue: true });
      throw error;
    }
  }

  async #takeAs(
    holder: string,
    dead: readonly string[],
    most: number,
    { names, except, opening }: DueWish,
  ): Promise<TakenRow[]> {
    const { leaseMs } = this.#store;
    const bytes = Buffer.from(opening.payload as string);
    const values = [names, dead, most, except.map(keyOf), holder, leaseMs, opening.kind, Date.now(), bytes];
    try {
      return (await this.#store.ask(takeStatement, values)).rows as TakenRow[];
    } catch (error) {
      this.#unknown.push({ holder, atMs: performance.now() });
      throw error;
    }
  }

  /** After this time their leases have expired, so they need not be remembered. */
  #unknownHolders(): string[] {
    const sinceMs = performance.now() - 2 * this.#store.leaseMs;
    this.#unknown = this.#unknown.filter(({ atMs }) => atMs > sinceMs);
    return this.#unknown.map(({ holder }) => holder);
  }

  async #look<Row extends { priority: number }>(
    names: readonly string[],
    most: number,
    give: (dead: readonly string[], left: number) => Promise<Row[]>,
  ): Promise<Row[]> {
    const isLookedAt = performance.now() - this.#holdersAtMs < holdersEveryMs;
    const found = isLookedAt ? await give([], most) : [];
    if (found.length < most) {
      const dead = await this.#findDead(names);
      if (!isLookedAt || dead.length > 0) found.push(...(await give(dead, most - found.length)));
    }
    return found.sort((a, b) => b.priority - a.priority);
  }

  async #findDead(names: readonly string[]): Promise<string[]> {
    const held = (await this.#store.ask(holdersStatement, [names])).rows as { holder: string }[];
    this.#holdersAtMs = performance.now();
    this.#dead = held
      .map(({ holder }) => holder)
      .filter((holder) => {
        const identity = readHolder(holder);
        return identity !== undefined && isSurelyDead(identity);
      });
    return this.#dead;
  }
}

interface GivenRow {
  id: string;
  name: string | null;
  priority: number;
}

/** For `to_timestamp`; null: at once. */
export function dueSeconds({ dueAtMs }: RunRest): number | null {
  const due = dueTimeOf(dueAtMs);
  if (due === 'never') return Number.POSITIVE_INFINITY;
  return due === undefined ? null : due / 1_000;
}

/** A held run can only be made due, as an answer would do. */
export async function rest(store: PostgresPlace, runId: string, wish: RunRest): Promise<void> {
  const isWake = !wish.isOver && wish.dueAtMs === undefined;
  await store.ask(
    `with rested as (
       update agentdump_runs set is_over = $2, is_firm = $4,
         due_at = coalesce(to_timestamp($3::float8), now())
       where run_id = $1 and case when $5 then not is_firm or due_at <= now() else holder is null or lease_until < now() end
       returning run_id, due_at)
     select pg_notify('${newsChannel}', run_id) from rested where due_at <= now()`,
    [keyOf(runId), wish.isOver, dueSeconds(wish), wish.isFirm ?? false, isWake],
  );
}
