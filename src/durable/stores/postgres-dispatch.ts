/**
 * Which runs in PostgreSQL are due. The row that holds a run's lease says also when it is due, so that a claim, a pause and
 * the fence are one row: there is no second queue that could tell another story.
 */
import type { ProcessIdentity } from '../../journal/layout/session.ts';
import { dueTimeOf } from './due-time.ts';
import { isSurelyDead } from './holder.ts';
import type { PostgresPool } from './postgres-pool.ts';
import { keyOf } from './postgres-tables.ts';
import type { DueRun, RunRest } from './store.ts';

export const newsChannel = 'agentdump_news';

/** Who asks at the same time gets others: a run that is given is given to nobody else for so long. */
const givenMs = 2_000;

const dueStatement = `
  with due as (
    select run_id from agentdump_runs
    where not is_over and due_at <= now() and (name is null or name = any($1))
      and (holder is null or lease_until < now() or holder = any($2))
    order by priority desc, name is null, due_at limit $3 for update skip locked)
  update agentdump_runs as run set due_at = now() + ${givenMs} * interval '1 millisecond'
  from due where run.run_id = due.run_id
  returning coalesce(run.full_id, run.run_id) as id, run.name, run.priority`;

/** Of a process that is surely dead nobody has to wait for the lease. */
const holdersStatement = `
  select distinct holder from agentdump_runs
  where not is_over and due_at <= now() and holder is not null and lease_until > now()
    and (name is null or name = any($1))`;

/** Who is dead is looked for when there is room for more, and at least this often. */
const holdersEveryMs = 1_000;

export class PostgresDue {
  readonly #pool: PostgresPool;
  #holdersAtMs = Number.NEGATIVE_INFINITY;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  async find(names: readonly string[], most: number): Promise<DueRun[]> {
    const isLookedAt = performance.now() - this.#holdersAtMs < holdersEveryMs;
    const found = isLookedAt ? await this.#give(names, [], most) : [];
    if (found.length < most) {
      const dead = await this.#findDead(names);
      if (!isLookedAt || dead.length > 0) found.push(...(await this.#give(names, dead, most - found.length)));
    }
    return found
      .sort((a, b) => b.priority - a.priority)
      .map(({ id, name }) => ({ id, ...(name !== null && { name }) }));
  }

  async #findDead(names: readonly string[]): Promise<string[]> {
    const held = (await this.#pool.query(holdersStatement, [names])).rows as { holder: string }[];
    this.#holdersAtMs = performance.now();
    return held
      .map(({ holder }) => holder)
      .filter((holder) => {
        const identity = readHolder(holder);
        return identity !== undefined && isSurelyDead(identity);
      });
  }

  async #give(names: readonly string[], dead: readonly string[], most: number): Promise<GivenRow[]> {
    return (await this.#pool.query(dueStatement, [names, dead, most])).rows as GivenRow[];
  }
}

interface GivenRow {
  id: string;
  name: string | null;
  priority: number;
}

/** Undefined for what can't be read: its lease says how long it holds. */
export function readHolder(text: string): ProcessIdentity | undefined {
  try {
    const identity = JSON.parse(text);
    return typeof identity?.pid === 'number' ? identity : undefined;
  } catch {
    return undefined;
  }
}

/** For `to_timestamp`; null: at once. */
export function dueSeconds({ dueAtMs }: RunRest): number | null {
  const due = dueTimeOf(dueAtMs);
  if (due === 'never') return Number.POSITIVE_INFINITY;
  return due === undefined ? null : due / 1_000;
}

/** Of a held run only that it is due, as an answer would make it. */
export async function rest(pool: PostgresPool, runId: string, wish: RunRest): Promise<void> {
  const isWake = !wish.isOver && wish.dueAtMs === undefined;
  await pool.query(
    `with rested as (
       update agentdump_runs set is_over = $2, is_firm = $4,
         due_at = coalesce(to_timestamp($3::float8), now())
       where run_id = $1 and case when $5 then not is_firm or due_at <= now() else holder is null or lease_until < now() end
       returning run_id, due_at)
     select pg_notify('${newsChannel}', run_id) from rested where due_at <= now()`,
    [keyOf(runId), wish.isOver, dueSeconds(wish), wish.isFirm ?? false, isWake],
  );
}
