/** Messages to and from a job's thread: plain data that can be cloned. */
import type { Keys } from '../../bundle/read/age.ts';
import type { HeapPlace } from '../heap/open-session.ts';
import type { HeapQuestion } from '../heap/questions.ts';
import type { MemoryPlace } from '../memory/memory-session.ts';
import type { MemoryQuestion } from '../memory/questions.ts';
import type { Progress } from '../protocol.ts';

export type Work =
  | { what: 'account'; path: string; keys?: Keys }
  | { what: 'core'; path: string; executable?: string }
  | { what: 'diff'; paths: [before: string, after: string]; keys?: Keys }
  /** Two or more, the earliest first. */
  | { what: 'growth'; places: HeapPlace[] }
  /** Once ready, these answer questions until they are ended. */
  | { what: 'heap'; place: HeapPlace }
  | { what: 'memory'; place: MemoryPlace };

export type Question = HeapQuestion | MemoryQuestion;

export type Said =
  | ({ kind: 'progress' } & Progress)
  /** The result as JSON in which every text is escaped. */
  | { kind: 'ready'; result: string }
  | { kind: 'failed'; reason: string }
  /** The answer to the question with this number. */
  | { kind: 'answer'; number: number; answer: string }
  | { kind: 'refused'; number: number; reason: string };

export interface NumberedQuestion {
  number: number;
  question: Question;
}
