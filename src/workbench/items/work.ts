/** What a job's thread is asked to do, and what it says: plain data that can be handed to another thread. */
import type { Keys } from '../../bundle/read/age.ts';
import type { HeapPlace } from '../heap/open-session.ts';
import type { HeapQuestion } from '../heap/questions.ts';
import type { Progress } from '../protocol.ts';

export type Work =
  | { what: 'account'; path: string; keys?: Keys }
  | { what: 'core'; path: string; executable?: string }
  | { what: 'diff'; paths: [before: string, after: string]; keys?: Keys }
  /** Two or more, the earliest first. */
  | { what: 'growth'; places: HeapPlace[] }
  /** Answers questions when it is ready, until it is ended. */
  | { what: 'heap'; place: HeapPlace };

export type Said =
  | ({ kind: 'progress' } & Progress)
  /** The result, as JSON in which every text is escaped. */
  | { kind: 'ready'; result: string }
  | { kind: 'failed'; reason: string }
  /** To the question of this number. */
  | { kind: 'answer'; number: number; answer: string }
  | { kind: 'refused'; number: number; reason: string };

export interface NumberedQuestion {
  number: number;
  question: HeapQuestion;
}
