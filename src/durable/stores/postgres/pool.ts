import type { Patience } from '../persist.ts';

/** What is needed of `pg`'s Pool, in words of our own: our types are read where `pg` is not installed. */
export interface PostgresPool {
  query(
    query: string | { name: string; text: string; values: unknown[] },
    values?: unknown[],
  ): Promise<PostgresResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  end(): Promise<void>;
  /** A connection of its own, for news; without it workers and waiting runs look every second. */
  connect?(): Promise<PostgresClient>;
}

export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
}

export interface PostgresClient {
  query(text: string): Promise<unknown>;
  on(event: 'notification', listener: (news: { payload?: string | undefined }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  /** Keeps the process alive no longer. */
  unref?(): void;
  release(destroy: boolean): void;
}

/** What one run needs of its store. */
export interface PostgresPlace {
  pool: PostgresPool;
  /** A run whose holder was silent for so long may be taken by others. */
  leaseMs: number;
  patience: Patience;
  /** Throws `closed` once the store is closed. */
  requireOpen(): void;
  /** What is asked for often: the server parses and plans it once a connection. */
  ask(text: string, values: unknown[]): Promise<PostgresResult>;
}
