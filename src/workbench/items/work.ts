/** What a job's thread is asked to do, and what it says: plain data that can be handed to another thread. */
import type { Keys } from '../../bundle/read/age.ts';
import type { Progress } from '../protocol.ts';

export type Work = { keys?: Keys } & (
  | { what: 'account'; path: string }
  | { what: 'core'; path: string; executable?: string }
  | { what: 'diff'; paths: [before: string, after: string] }
);

export type Said =
  | ({ kind: 'progress' } & Progress)
  /** The result, as JSON in which every text is escaped. */
  | { kind: 'ready'; result: string }
  | { kind: 'failed'; reason: string };
