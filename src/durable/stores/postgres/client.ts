/** The client of PostgreSQL, an optional peer that is loaded when a store is one. */
import { AgentdumpError } from '../../../errors.ts';

/** Throws `usage` where the package is missing. */
export async function importPg() {
  try {
    return await import('pg');
  } catch (cause) {
    throw new AgentdumpError(
      'usage',
      'a store in PostgreSQL needs the package pg: npm install pg',
      { argument: 'store' },
      cause,
    );
  }
}

/** As it may be shown: without user, password and options. */
export function placeOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'PostgreSQL';
  }
}

/**
 * A connection that breaks is replaced at the next query, and whoever waits for it hears of it. But one that breaks while nobody
 * listens, as between the moment in which it is made and the one in which it is given away, would end the process.
 */
export function hearErrors(
  pool: ErrorTeller & { on(event: 'connect', tell: (client: ErrorTeller) => void): unknown },
): void {
  const listen = (teller: ErrorTeller) => teller.on('error', () => {});
  listen(pool);
  pool.on('connect', listen);
}

interface ErrorTeller {
  on(event: 'error', tell: (error: Error) => void): unknown;
}
