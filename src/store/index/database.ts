/** What the store asks of a database: PostgreSQL's SQL, by whoever speaks it. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Times leave the database as text: its clients differ in what they make of them. */
export const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export interface IndexDatabase {
  /** For people: without a password. */
  readonly place: string;
  /** One statement, tried again where what failed may pass: it must do no harm when it is done twice. */
  readonly query: Query;
  /** All of it or nothing; `work` may run more than once. */
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}
