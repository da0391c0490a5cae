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
