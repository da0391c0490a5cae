/**
 * Statements that each connection prepares once. A proxy that gives each transaction another connection of the server, and does
 * not know of them, makes them fail: then they are sent as they are, from that time on.
 */
import { createHash } from 'node:crypto';
import type { PostgresPool, PostgresResult } from './pool.ts';

/** SQLSTATE: the statement is not there, or there is one of its name. */
const unprepared = new Set(['26000', '42P05']);

/** By their texts. Another release, on the same connections, has other texts under other names. */
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
