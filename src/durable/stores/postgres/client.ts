/** The PostgreSQL client, an optional peer dependency that is loaded when a store needs it. */
import { AgentdumpError } from '../../../errors.ts';

/** Throws `usage` if the package is missing. */
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

/** For display: without user, password and options. */
export function placeOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'PostgreSQL';
  }
}

/**
 * The pool replaces a broken connection at the next query, and pending queries receive the error. But a connection that
 * breaks while it has no listener, such as between its creation and its checkout, would end the process.
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
