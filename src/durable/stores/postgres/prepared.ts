/**
 * Statements that each connection prepares once. They fail behind a proxy that assigns a different server connection to each
 * transaction and does not track prepared statements; from then on they are sent unprepared.
 */
import { createHash } from 'node:crypto';
import type { PostgresPool, PostgresResult } from './pool.ts';

/** SQLSTATE: the statement does not exist, or its name is taken. */
const unprepared = new Set(['26000', '42P05']);

/** By text. Another release on the same connections has other texts, and therefore other names. */
const names = new Map<string, string>();

export class PreparedStatements {
  readonly #pool: PostgresPool;
  #isUsed = true;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  async ask(text: string, values: unknown[]): Promise<PostgresResult> {
    if (!this.#isUsed) return this.#pool.query(text, values);
    try {
      return await this.#pool.query({ name: nameOf(text), text, values });
    } catch (error) {
      if (!unprepared.has((error as { code?: string }).code ?? '')) throw error;
      this.#isUsed = false;
      return this.#pool.query(text, values);
    }
  }
}

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `agentdump_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}
