import type { Patience } from '../persist.ts';

/** The subset of `pg`'s Pool that is used, as a type of our own, because our types must resolve if `pg` is not installed. */
export interface PostgresPool {
  query(
    query: string | { name: string; text: string; values: unknown[] },
    values?: unknown[],
  ): Promise<PostgresResult>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  end(): Promise<void>;
  /** A separate connection for notifications; without it workers and waiting runs poll every second. */
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
  /** Stops keeping the process alive. */
  unref?(): void;
  release(destroy: boolean): void;
}

/** What a run needs of its store. */
export interface PostgresPlace {
  pool: PostgresPool;
  /** A run whose holder was silent for this long may be taken by others. */
  leaseMs: number;
  patience: Patience;
  /** Throws `closed` once the store is closed. */
  requireOpen(): void;
  /** For frequent queries: the server parses and plans them once per connection. */
  ask(text: string, values: unknown[]): Promise<PostgresResult>;
}
