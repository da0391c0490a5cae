/**
 * The protocol between the server and the page: the state embedded in each document, and the events of loading. Types and
 * URLs only.
 */
import type { Account } from '../model/account.ts';
import type { BundleDiff } from '../model/diff.ts';
import type { Issue, IssueStory } from '../model/fleet/issue.ts';
import type { Answers, GrowthView } from './heap/questions.ts';
import type { MemorySummary } from './memory/questions.ts';

/** An item of a list. */
export interface ItemRow {
  id: string;
  kind: ItemKind;
  name: string;
  /** ISO 8601 UTC. */
  at?: string;
  program?: string;
  verdictKind?: string;
  /** The error that ended it: name and message. */
  error?: string;
  bytes?: number;
  gaps?: number;
  /** Sealed, partial, packed, encrypted or unreadable. */
  state?: string;
  problem?: string;
  /** For a store: the issue that it belongs to. */
  issue?: string;
}

export type ItemKind = 'bundle' | 'core' | 'heap';

/** Embedded in every document as JSON: the view and its data. */
export type ViewState = { base: string; title: string } & (
  | { view: 'list'; folder: string; items: ItemRow[] }
  | { view: 'issues'; store: string; issues: Issue[] }
  | { view: 'issue'; story: IssueStory }
  | { view: 'account'; item: ItemRow; hasList: boolean; hasHeap: boolean; hasMemory: boolean }
  | { view: 'heap'; item: ItemRow; hasList: boolean; summary: Answers['summary'] }
  | { view: 'memory'; item: ItemRow; hasList: boolean; hasHeap: boolean; summary: MemorySummary }
  | {
      view: 'diff';
      a: ItemRow;
      b: ItemRow;
      diff: BundleDiff;
      accounts: [Account, Account];
      /** Each item has a heap. */
      hasHeaps: boolean;
    }
  /** For two or more, the earliest first. */
  | { view: 'growth'; items: ItemRow[]; growth: GrowthView }
  | { view: 'loading'; job: string; what: string }
  | { view: 'failed'; what: string; reason: string }
);

export interface Progress {
  /** What is being done. */
  text: string;
  /** From 0 to 1, if known. */
  share?: number;
}

/** Events of `jobs/<job>/events`; the last one is not `progress`. */
export type JobEvent =
  | ({ kind: 'progress' } & Progress)
  | { kind: 'ready' }
  | { kind: 'failed'; reason: string };

/** How many questions one request may have. */
export const mostQuestions = 8;

/** One of the answers to a request, in the order of its questions. */
export interface AnswerInBatch {
  answer?: unknown;
  /** Why there is no answer. */
  reason?: string;
}

/** Below the URL that contains the token. */
export const addresses = {
  list: '',
  item: (id: string) => `items/${id}`,
  issue: (id: string) => `issues/${id}`,
  heap: (id: string) => `heap/${id}`,
  ask: (id: string) => `heap/${id}/ask`,
  memory: (id: string) => `memory/${id}`,
  askMemory: (id: string) => `memory/${id}/ask`,
  diff: (a: string, b: string) => `diff/${a}/${b}`,
  growth: (...ids: string[]) => `growth/${ids.join('/')}`,
  events: (job: string) => `jobs/${job}/events`,
  cancel: (job: string) => `jobs/${job}/cancel`,
} as const;
