/** The database interface of the store: PostgreSQL's SQL, whatever client executes it. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Times are selected as text, because database clients convert them differently. */
export const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export interface IndexDatabase {
  /** A name to show to users, without a password. */
  readonly place: string;
  /** Executes one statement, and retries it after a temporary failure: executing it twice must be harmless. */
  readonly query: Query;
  /** All or nothing; `work` may be executed more than once. */
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}
