/** What the server says to the page: the state that stands in each document, and the events of loading. Types and addresses only. */
import type { Account } from '../model/account.ts';
import type { BundleDiff } from '../model/diff.ts';
import type { Issue, IssueStory } from '../model/fleet/issue.ts';
import type { Answers, GrowthView } from './heap/questions.ts';

/** One thing that can be looked at, as a list shows it. */
export interface ItemRow {
  id: string;
  kind: ItemKind;
  name: string;
  /** ISO 8601 UTC. */
  at?: string;
  program?: string;
  verdictKind?: string;
  bytes?: number;
  gaps?: number;
  /** Whether it is sealed, partial, packed, encrypted, unreadable. */
  state?: string;
  problem?: string;
  /** Of a store: which issue it is of. */
  issue?: string;
}

export type ItemKind = 'bundle' | 'core' | 'heap';

/** Stands in every document as JSON: which view is meant, and what it shows. */
export type ViewState = { base: string; title: string } & (
  | { view: 'list'; folder: string; items: ItemRow[] }
  | { view: 'issues'; store: string; issues: Issue[] }
  | { view: 'issue'; story: IssueStory }
  | { view: 'account'; item: ItemRow; hasList: boolean; hasHeap: boolean }
  | { view: 'heap'; item: ItemRow; hasList: boolean; summary: Answers['summary'] }
  | {
      view: 'diff';
      a: ItemRow;
      b: ItemRow;
      diff: BundleDiff;
      accounts: [Account, Account];
      /** Each has a heap. */
      hasHeaps: boolean;
    }
  /** Of two or more, the earliest first. */
  | { view: 'growth'; items: ItemRow[]; growth: GrowthView }
  | { view: 'loading'; job: string; what: string }
  | { view: 'failed'; what: string; reason: string }
);

export interface Progress {
  /** What is being done. */
  text: string;
  /** From 0 to 1, where it is known. */
  share?: number;
}

/** Events of `jobs/<job>/events`; the last one is not `progress`. */
export type JobEvent =
  | ({ kind: 'progress' } & Progress)
  | { kind: 'ready' }
  | { kind: 'failed'; reason: string };

/** Below the address that bears the token. */
export const addresses = {
  list: '',
  item: (id: string) => `items/${id}`,
  issue: (id: string) => `issues/${id}`,
  heap: (id: string) => `heap/${id}`,
  ask: (id: string) => `heap/${id}/ask`,
  diff: (a: string, b: string) => `diff/${a}/${b}`,
  growth: (...ids: string[]) => `growth/${ids.join('/')}`,
  events: (job: string) => `jobs/${job}/events`,
  cancel: (job: string) => `jobs/${job}/cancel`,
} as const;
